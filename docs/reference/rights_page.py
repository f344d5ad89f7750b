"""The page of rights: members of rules, permissions, what requests need; `make.py` writes it."""

PAGE = """# Rights

What a file of rights says, and what requests need. [How to](../howto/rights.md) set it up.

## Members of a rule

| member | meaning |
|---|---|
| `anonymous` | above all rules: `true` lets requests without credentials in, as `anonymous`, through every API. Default: such a request is 401, also where a rule names `anonymous` |
| `who` | `user:NAME` (password), `token:NAME` (bearer token), `cert:NAME` (certificate), `group:NAME`, `anonymous`. Each name belongs to one kind of credentials. All principals have the rights of `anonymous` |
| `may` | permissions, see below |
| `subjects` | names; `*` matches any characters and `?` one. Default: all |
| `contexts` | contexts, each with its dot; `*` and `?` as above. **Default: only the default context `.`** |
| `vendors` | vendors of Iglu schemas: `com.acme` stands for the subjects `com.acme/*` and `com.acme.*/*` |
| `private` | `true`: patterns of `subjects` that begin with `*` or `?`, and so name no vendor, cover [private subjects](../howto/rights.md#private-subjects) too. Default: false |
| `topics` | names of topics whose associations `register` covers; `*` and `?` as above. `path:FOLDER` covers the folder of a source over files or a lake table. Default: topics whose usual subject the rule covers, and the folders of those names. A rule with `topics` and without `subjects` covers only topics |
| `sources` | names of streams, tables and types of the metastore; `*` and `?` as above, upper case counts as lower case. Default: those whose name the rule covers as a subject of the default context. A rule with `sources` and without `subjects` covers only sources |

## Permissions

| permission | allows |
|---|---|
| `read` | versions, schemas by id and guid, lookup, compatibility checks, lists, config and mode |
| `bump` | new versions of subjects that exist (also where all versions are soft-deleted), and `read` |
| `create` | new subjects with their first version, and `bump` |
| `register` | associations with topics, codecs, encoding ids, properties of groups, and `create` |
| `delete` | deletes of versions and subjects, soft and permanent |
| `config`, `mode` | reading and setting config or mode. For a context, the rule must cover all its subjects; for `:.__GLOBAL:`, all contexts. `mode` on a whole context also allows registrations with an id |
| `query`, `insert`, `pause` | queries that read a source and its topic, rows that are inserted, PAUSE and RESUME; each with `read` |
| `plan` | what planners and runners of queries do, who are trusted and need `read` too: to answer statements that wait, to take and end the leases of runners (on any source), and to assign parts of a source to a runner (on that source) |
| `import` | imports from other metastores |
| `admin` | all of these, deleting contexts, and, with `contexts = "*"`, the page `/status` |

## Members and headers of Treaty

Members, query parameters and headers that Confluent's registry does not have, with the permission that each needs, beside that of the request itself. It is
needed on the subject of the request. The same holds for schemas inside associations.

| name | where | who may send it |
|---|---|---|
| `treaty.force.who`, `treaty.force.why` | body of a registration | `config`: it skips the policy, as `force=true` does. `who` is replaced by the name of the principal |
| `treaty.createWith.policy`, `treaty.createWith.policy.level`, `treaty.createWith.policy.backward.range`, `treaty.createWith.policy.backward.ordinal`, `treaty.createWith.policy.forward.range`, `treaty.createWith.policy.forward.ordinal`, `treaty.createWith.policy.deny`, `treaty.createWith.policy.partition`, `treaty.createWith.policy.strictness`, `treaty.createWith.policy.validators`, `treaty.createWith.policy.name` | body of a registration | `config`: it becomes the config of the new subject. Refused (42205) if the subject exists, or its config differs |
| `treaty.policy.name`, `treaty.policy.level`, `treaty.policy.backward.range`, `treaty.policy.backward.ordinal`, `treaty.policy.forward.range`, `treaty.policy.forward.ordinal`, `treaty.policy.deny`, `treaty.policy.partition`, `treaty.policy.strictness`, `treaty.policy.validators` | body of a config | `config`, as for its other members |
| `treaty.createWith.properties`, `treaty.createWith.schemes` | body of a registration | `create`; they are kept with a subject that is new |
| `treaty.createWith.origin`, `treaty.createWith.types`, `treaty.createWith.order`, `treaty.createWith.identity` | body of a registration | no principal (400): they follow from the API that is used |
| `treaty.expected.by`, `treaty.expected.value` | body of a registration | `register`: a condition, which can only make a request fail |
| `treaty.names`, `treaty.properties` | body of a registration | `register`: they belong to the new version |
| `treaty.time` | body of a registration | `mode` on all of the context, in mode IMPORT; the same for `id`, which is Confluent's |
| `treaty.guid`, `treaty.createTs`, `treaty.updateTs` | body of an association | `mode` on all of the context, in mode IMPORT |
| `validators` | body of a config | `config`, as for every member of a config |
| `context`, `highestId` | body of `/treaty/contexts/{name}` | `register` and `mode` on all of the context, in mode IMPORT. `context` is not read |
| `alias=false` | query | the permission is checked on the alias itself, not on its target |
| `after`, `afterVersion`, `afterContext`, `afterSubject` | query of lists | every client that may read the list |
| `principal` | query of `/treaty/outcome/{command}` | `admin` on all contexts: it reads the outcome of another principal's command |
| `Treaty-Consistency`, `consistency` | header, query | every client. `strict` costs an empty commit |
| `Treaty-Position` | header | every client that may ask: the answer waits, as long as a request may take, until the server has read that position |
| `Treaty-Details` | header | every client: it adds facts about what the answer contains |
| `Treaty-Command` | header | every client that may make the change. Ids of different principals are different commands |
| `Treaty-Retry` | header | every client that may make the change: its outcome is stored, even where it changed nothing |
| `X-Request-ID` | header | every client: the answer, the server's log and the audit log repeat it |
| `Treaty-Peer-Secret` | header of `/treaty/peer/commands` | nodes of this registry. A client with the secret may do everything, under any name |
| `/treaty/peer/commands` | path | nodes of this registry, with the secret or a certificate (`--peer-name`) |
| `/treaty/contexts/{name}` | path, PUT | see `highestId` |
| `/treaty/settings` | path, GET | any `read`; it lists what the caller may read |
| `/treaty/v1/ask` | path, POST | what each operation needs: see [the operations](operations.md) |
| `/treaty/v1/diff` | path, GET and POST | `read` on each subject that is named; see [compare two schemas](../howto/compare.md) |
| `/treaty/v1/search` | path, GET | any `read`; results and counts are of what the caller may read |
| `/treaty/outcome/{command}` | path, GET | any permission, for the caller's own commands; the answer of a command only with `read` on its subject |

## Lines of the audit log

| member | meaning |
|---|---|
| `outcome` | `done`, `unchanged`, `refused` with the `rule`, `not now` (unavailable) or `unknown` |
| `before`, `after` | digests: the guid of a version, or of a config with its level. `before` is what this worker saw when the command arrived |
| `policy` | the policy of a subject that a registration created |
| `sequence`, `command` | the commit, and the id of the command |
| `source`, `type` | the stream, table or type that a statement changes. `insert-records`, `update-records` and `delete-records` also have `topic` or `path` and the number of `records` |
| `request` | the client's `X-Request-ID`, or a generated id |
"""


def page() -> str:
    """Return the page."""
    return PAGE
