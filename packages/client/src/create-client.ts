/** Creates a client: reads its options and sends calls for its models. */
import type { Batch, BatchResult, DocumentCall, Execute, Files } from './calls.ts';
import type { AskChanges, ChangesPage } from './changes.ts';
import { download } from './download.ts';
import { readVariable } from './environment.ts';
import { ErpProxyError, readError, refuse } from './errors.ts';
import type { AnyModels } from './field-types.ts';
import { callFleet, type FleetChoice, type FleetResult } from './fleet.ts';
import { type Job, type JobOptions, type JobStatus, openJob, type ResultKind } from './jobs.ts';
import { returnsValues } from './methods.ts';
import { createModel, type Model } from './model.ts';
import type { CallOptions, ClientOptions, Context, ExecuteCall, ValueForm } from './options.ts';
import { createRetryBudget } from './retry-budget.ts';
import { explainForm, type SendSettings, type Sent, send, toRoute } from './send.ts';
import { type ExportAsk, type OpenLines, sendExport } from './send-export.ts';

export interface Client<Models = AnyModels, Form extends ValueForm = 'odoo'> {
  /** Returns the methods of a model. */
  model<Name extends keyof Models & string>(name: Name): Model<Models, Name, Form>;
  /** Returns a client whose calls have this context in addition. */
  withContext(context: Context): Client<Models, Form>;
  /** Sends one call in the form of the execute route, and returns its result. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the type
  execute<Result = any>(call: ExecuteCall, options?: CallOptions): Promise<Result>;
  /**
   * Sends several calls in one request, and returns a result or an error for each, in their order. The calls are not
   * one transaction.
   */
  batch: Batch;
  /**
   * Sends one call to many stored instances, and yields the result or the error of each as it answers. Calls that write
   * need a policy that allows it.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the type
  fleet<Result = any>(
    call: ExecuteCall,
    choice: FleetChoice,
    options?: CallOptions,
  ): AsyncGenerator<FleetResult<Result>>;
  /** Sends one call that runs as a job, for which nobody waits. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the type
  startJob<Result = any>(call: ExecuteCall, options?: JobOptions): Promise<Job<Result>>;
  /** Starts an export as a job. Its result is a `Response` whose body is the export. */
  startExport(call: ExportCall, options?: JobOptions): Promise<Job<Response>>;
  /** Starts a request for documents as a job. Its result is a `Response` whose body is the PDF or the archive. */
  startDocument(call: DocumentCall, options?: JobOptions): Promise<Job<Response>>;
  /** Finds a job by its id again. `response`: that of an export or a document. Default: that of a call. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the type
  job(id: string, kind?: ResultKind): Job<any>;
}

/** The body of an export, without its instance. */
type ExportCall = Omit<ExportAsk, 'domain'> & Partial<Pick<ExportAsk, 'domain'>>;

/** Maximum calls of one request: the proxy refuses larger batches. */
const BATCH_CALLS_MAX = 100;

export function createClient<Models = AnyModels>(
  options: ClientOptions<'normalized'> & { values: 'normalized' },
): Client<Models, 'normalized'>;
export function createClient<Models = AnyModels>(options?: ClientOptions): Client<Models>;
export function createClient<Models = AnyModels>(
  options: ClientOptions<ValueForm>,
): Client<Models, ValueForm>;
export function createClient(options: ClientOptions<ValueForm> = {}): Client<AnyModels, ValueForm> {
  const settings: SendSettings = {
    url: readUrl(options.url ?? readVariable('ERP_PROXY_URL')),
    key: readKey(options.key ?? readVariable('ERP_PROXY_KEY')),
    timeout: options.timeout,
    isNormalized: options.values === 'normalized',
    retries: options.retries ?? 2,
    idempotencyKeys: options.idempotencyKeys ?? true,
    // Called without `this`, because browsers refuse another `this` than the global object.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    hooks: options.hooks ?? {},
    budget: createRetryBudget(),
  };
  const instance = readInstance(options.instance ?? readVariable('ERP_PROXY_INSTANCE'));
  return openClient(settings, instance, options.context ?? {});
}

function openClient<Models, Form extends ValueForm>(
  settings: SendSettings,
  instance: object,
  context: Context,
): Client<Models, Form> {
  const complete = (call: ExecuteCall, added: Context | undefined) => {
    const merged = { ...context, ...(call.keyword?.['context'] as Context | undefined), ...added };
    const keyword = Object.keys(merged).length > 0 ? { ...call.keyword, context: merged } : call.keyword;
    return { ...call, ...(keyword ? { keyword } : {}), erp_instance: instance };
  };
  const findFormError = ({ isNormalized }: Sent) =>
    settings.isNormalized && !isNormalized ? explainForm() : null;
  const checkForm = (sent: Sent) => {
    const error = findFormError(sent);
    if (error) throw error;
  };
  /** The body of a request that is not a call of a method. */
  const place = <Call extends object>(call: Call, options: CallOptions) => ({
    ...call,
    context: { ...context, ...options.context },
    erp_instance: instance,
  });
  const askChanges: AskChanges = async (call, options = {}) => {
    const shown = [{ ...call, action: 'changes' }];
    const sent = await send(toRoute(settings, 'changes'), shown, place(call, options), options);
    checkForm(sent);
    return (sent.answer as { result: ChangesPage<{ id: number }> }).result;
  };
  const execute: Execute = async (call, options = {}) => {
    const sent = await send(settings, [call], complete(call, options.context), options);
    if (returnsValues(call.action)) checkForm(sent);
    return { ...sent, result: (sent.answer as { result?: unknown }).result };
  };
  const batch: Batch = async (calls, options = {}) => {
    const results: BatchResult<never>[] = [];
    for (let at = 0; at < calls.length; at += BATCH_CALLS_MAX) {
      const part = calls.slice(at, at + BATCH_CALLS_MAX);
      const { idempotencyKey } = options;
      const ownKey = idempotencyKey && at > 0 ? { idempotencyKey: `${idempotencyKey}-${at}` } : {};
      const bodies = part.map((call) => complete(call, options.context));
      try {
        const sent = await send(settings, part, bodies, { ...options, ...ownKey });
        const reason = findFormError(sent);
        const answers = readAnswers(sent.answer, part.length).map((result, index) =>
          // Only for reads: the results of writes must not be lost.
          reason && result.status === 'fulfilled' && returnsValues(part[index]!.action)
            ? ({ status: 'rejected', reason } as const)
            : result,
        );
        results.push(...answers);
      } catch (error) {
        // Not thrown, because the results of earlier parts must not be lost.
        if (at === 0 || options.signal?.aborted) throw error;
        const rest = calls
          .slice(at)
          .map(() => ({ status: 'rejected', reason: error as ErpProxyError }) as const);
        return [...results, ...rest];
      }
    }
    return results;
  };
  const open: OpenLines = (call, options, attempt) =>
    sendExport(settings, 'export', { ...call, action: 'export' }, place(call, options), options, attempt);
  const placeDocument = (call: DocumentCall) => {
    const { lang } = context;
    return { ...(typeof lang === 'string' ? { lang } : {}), ...call, erp_instance: instance };
  };
  const files: Files = {
    download: (call, options = {}) =>
      download(settings, { route: 'download', model: call.model_id, call: place(call, options) }, options),
    document: (call, options = {}) =>
      download(settings, { route: 'document', model: call.model_id, call: placeDocument(call) }, options),
    async upload(call, file, options = {}) {
      const shown = [{ ...call, action: 'upload' }];
      const { answer } = await send(toRoute(settings, 'upload'), shown, place(call, options), options, file);
      return (answer as { result: number }).result;
    },
  };
  /** Sends a request that becomes a job. */
  const start = async <Result>(
    route: string,
    call: Omit<ExecuteCall, 'action'>,
    body: object,
    { callback, ...options }: JobOptions,
  ): Promise<Job<Result>> => {
    const prefer = `respond-async${callback ? `; callback="${callback}"` : ''}`;
    const shown = [{ action: route, ...call }];
    const { answer } = await send({ ...toRoute(settings, route), prefer }, shown, body, options);
    return openJob(settings, (answer as JobStatus).id, route === 'execute' ? 'result' : 'response');
  };
  const exports = { open, retries: settings.retries, budget: settings.budget };
  return {
    model: (name) => createModel(name, { execute, batch, askChanges, exports, files }) as never,
    withContext: (added) => openClient(settings, instance, { ...context, ...added }),
    execute: async (call, options) => (await execute(call, options)).result as never,
    batch,
    fleet(call, choice, options = {}) {
      const completed = { ...complete(call, options.context), erp_instance: undefined };
      return callFleet(settings, completed, choice, options);
    },
    startJob: (call, options = {}) => start('execute', call, complete(call, options.context), options),
    startExport: (call, options = {}) => start('export', call, place(call, options), options),
    startDocument: (call, options = {}) => start('document', call, placeDocument(call), options),
    job: (id, kind = 'result') => openJob(settings, id, kind),
  };
}

function readAnswers(answer: unknown, count: number): BatchResult<never>[] {
  if (!Array.isArray(answer) || answer.length !== count) {
    throw new ErpProxyError('invalid_answer', 'The batch got another number of results.');
  }
  return answer.map((one) =>
    one.error
      ? { status: 'rejected', reason: readError(one.error, { status: 200 }) }
      : { status: 'fulfilled', value: one.result as never },
  );
}

function readUrl(text: string | undefined): string {
  if (!text) throw refuse('Give `url`, the address of the proxy, or set ERP_PROXY_URL.');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refuse('`url` is not the address of a proxy, such as https://proxy.example.com.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/api/erp/execute`;
}

/** The error does not show the text, which may be another secret. */
function readKey(text: string | undefined): string {
  if (!text) throw refuse('Give `key`, a client key of the proxy, or set ERP_PROXY_KEY.');
  if (!/^[\x21-\x7e]+$/.test(text)) throw refuse('`key` is not the text of a client key: ep_….');
  return text;
}

function readInstance(instance: ClientOptions['instance']): object {
  if (!instance) throw refuse('Give `instance`, the name of a stored instance, or set ERP_PROXY_INSTANCE.');
  if (typeof instance === 'string') return { name: instance };
  if (!('userId' in instance)) return instance;
  const { url, db, userId, apiKey } = instance;
  return { url, db, user_id: userId, api_key: apiKey };
}
