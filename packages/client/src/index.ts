/** The client of erp-proxy, for Node, browsers, Deno, Bun and edge runtimes. Has no dependencies. */
export type { BatchResult } from './calls.ts';
export type { Change, ChangesPage } from './changes.ts';
export { type Client, createClient } from './create-client.ts';
export type { Domain, Operator } from './domain-types.ts';
export { ErpProxyError, type ErrorType, isErpProxyError, type Outcome } from './errors.ts';
export type {
  AnyModels,
  BinaryField,
  Create,
  DateText,
  FieldInfo,
  FieldName,
  FieldSpec,
  MethodName,
  Methods,
  ModelName,
  Read,
  TimeText,
  Update,
  X2manyChanges,
  X2manyCommand,
} from './field-types.ts';
export type { FleetChoice, FleetResult } from './fleet.ts';
export type { Job, JobOptions, JobStatus, ResultKind } from './jobs.ts';
export type { Model } from './model.ts';
export type {
  CallOptions,
  ClientOptions,
  Context,
  ExecuteCall,
  Hooks,
  InstanceOptions,
  Json,
  RequestInfo,
  ResponseInfo,
  RetryInfo,
  ValueForm,
  WireInstance,
} from './options.ts';
export type { Pages } from './paginate.ts';
export type { UpsertResult } from './upsert.ts';
export {
  type KeyEndsEvent,
  type PingEvent,
  type RecordEvent,
  verifyWebhook,
  type WebhookEvent,
  type WebhookRequest,
} from './verify-webhook.ts';
