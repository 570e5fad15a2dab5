/* Lines by which a program tells whose filter policy it was given. */

#ifndef LEVELDB_BLOOM_ROUTES_PROOF_H
#define LEVELDB_BLOOM_ROUTES_PROOF_H

#ifdef __cplusplus
extern "C" {
#endif

/* "active: ..." with the answer of leveldb_bloom_active, where the process has it. */
void print_active(void);

/* "made by: ..." with the module that holds the policy's virtual functions: a library's name up to
 * ".so", or the program's. */
void print_maker(const void *policy);

/* "LABEL: ..." with the module around `address`. */
void print_module(const char *label, const void *address);

#ifdef __cplusplus
}
#endif

#endif
