/* A host that calls a leveldb::FilterPolicy with a string of its own, and shows nothing by which
 * anybody could tell what string. */

#ifndef LEVELDB_BLOOM_ROUTES_FAKE_HOST_H
#define LEVELDB_BLOOM_ROUTES_FAKE_HOST_H

#ifdef __cplusplus
extern "C" {
#endif

/* A bloom policy as the host gets one: through leveldb_filterpolicy_create_bloom. */
void *fake_host_policy(int bits_per_key);

/* Has the policy append filters to a string and asks it about keys. 0 if the answers are right;
 * *appended says whose bytes it got: those of LevelDB's format ("bloom"), those of the host's own
 * policy ("original"), or others. */
int fake_host_use(void *policy, const char **appended);

void fake_host_delete(void *policy);

/* How many of the host's own policies were made and not deleted yet. Some are made for policies of
 * ours, and end with them. */
int fake_host_living(void);

#ifdef __cplusplus
}
#endif

#endif
