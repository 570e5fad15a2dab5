/* A LevelDB with a string of its own, of which nothing shows what kind it is. */

#ifndef LEVELDB_BLOOM_ROUTES_UNKNOWN_HOST_H
#define LEVELDB_BLOOM_ROUTES_UNKNOWN_HOST_H

#ifdef __cplusplus
extern "C" {
#endif

/* A bloom policy as the host gets one: through leveldb_filterpolicy_create_bloom. */
void *unknown_host_policy(int bits_per_key);

/* Has the policy append filters to a string and queries them. 0 if the answers are right; *made_by
 * is "bloom" for LevelDB's bytes, "original" for those of the host's own policy. */
int unknown_host_use(void *policy, const char **made_by);

/* Whether a string that cannot grow throws through the policy and leaves it in order. */
int unknown_host_throws(void *policy);

void unknown_host_delete(void *policy);

/* The host's own policies that are not deleted yet. */
int unknown_host_living(void);

#ifdef __cplusplus
}
#endif

#endif
