/** How the functions of models send their calls. Types only. */
import type { AskChanges } from './changes.ts';
import type { ErpProxyError } from './errors.ts';
import type { CallOptions, ExecuteCall } from './options.ts';
import type { PostRequest } from './post.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { Sent } from './send.ts';
import type { OpenLines } from './send-export.ts';

export interface Calls {
  execute: Execute;
  batch: Batch;
  askChanges: AskChanges;
  exports: Exports;
  files: Files;
}

/** `call` is the body of the request, without context and instance. */
export interface Files {
  download(call: FileCall, options?: CallOptions): Promise<Response>;
  document(call: DocumentCall, options?: CallOptions): Promise<Response>;
  upload(
    call: FileCall & { values?: object },
    file: PostRequest['body'],
    options?: CallOptions,
  ): Promise<number>;
}

interface FileCall {
  model_id: string;
  field: string;
  record?: number | undefined;
}

export interface DocumentCall {
  model_id: string;
  record?: number | undefined;
  records?: readonly number[] | undefined;
  report?: string | undefined;
  lang?: string | undefined;
}

export interface Exports {
  open: OpenLines;
  /** Maximum number of consecutive attempts that give no record. */
  retries: number;
  budget: RetryBudget;
}

export type Execute = (call: ExecuteCall, options?: CallOptions) => Promise<Sent & { result: unknown }>;

// biome-ignore lint/suspicious/noExplicitAny: the caller knows the type
export type Batch = <Result = any>(
  calls: readonly ExecuteCall[],
  options?: CallOptions,
) => Promise<BatchResult<Result>[]>;

/** Like a result of `Promise.allSettled`. */
export type BatchResult<Result> =
  | { status: 'fulfilled'; value: Result }
  | { status: 'rejected'; reason: ErpProxyError };
