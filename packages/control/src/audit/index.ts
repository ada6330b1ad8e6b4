/** Audit records, their search and their formats. */
export { NOBODY, nameCommandActor, PROXY_ACTOR, readActor, SESSION_ACTOR, TOKEN_ACTOR } from './actors.ts';
export { type Audit, auditEvents, createAudit } from './audit.ts';
export type { AuditComparison } from './compare.ts';
export { createFileTarget } from './file-target.ts';
export { AUDIT_FORMATS, formatAudit } from './format.ts';
export { type AdminAction, cleanName } from './record.ts';
export { AuditQueryError, type AuditScope, type HiddenNumbers } from './search.ts';
export { type AuditSink, type AuditTarget, createAuditSink } from './sink.ts';
export { HASH_ATTRIBUTE, printHash, SEQ_ATTRIBUTE } from './sink-line.ts';
