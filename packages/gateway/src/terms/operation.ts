/**
 * The definition of one kind of call: how it is parsed, authorized, resolved and built, and the steps around sending.
 */
import type { Client } from '@erp-proxy/control/keys';
import type { CallContext, CallTrace } from './call-context.ts';
import type { Denial } from './denial.ts';
import type { Dialect } from './dialect.ts';
import type { FoundTypes } from './field-finder.ts';
import type { AnyParsed, CallSpan, ParsedCall } from './parsed-body.ts';
import type { Reply } from './reply.ts';
import type { ServerAddress } from './target.ts';

/** Runs the steps after this one. A read that several callers share gives them a context of its own. */
export type Next = (context: CallContext) => Promise<Reply>;

interface StepMethod<Prepared> {
  run(call: Prepared, context: CallContext, next: Next): Promise<Reply>;
}

/**
 * One step of a call. It returns its own reply, or that of the next steps, as it is or changed. What it takes for the
 * call it gives back once `next` has returned or thrown.
 */
export type Step<Prepared> = StepMethod<Prepared>['run'];

/** Whether the values of a call are those that are sent, or convertValues has yet to convert them. */
export type ValuesState = 'sent' | 'unconverted';

/** A call that may be sent, because its server is known. */
export interface AnyPrepared {
  isReadOnly: boolean;
}

/**
 * The members are declared as methods, so that TypeScript accepts any operation as an `Operation`: the functions that
 * run one pass its values from member to member and need not know their types.
 */
export interface Operation<
  Parsed extends AnyParsed = AnyParsed,
  Resolved extends ServerAddress = ServerAddress,
  Prepared extends AnyPrepared = AnyPrepared,
> {
  /** Calls with the same bytes are the same call only within one operation. */
  readonly name: string;
  readonly takesBatch: boolean;
  /** True if the body has the server's address itself, and no member for it. */
  readonly isAddressInBody: boolean;
  /**
   * Parses the bytes into a call whose shape is valid. This, `authorize` and `build` reject with TaskAborted if the
   * signal is aborted before the thread has done their work on a large call.
   */
  parse(
    bytes: Uint8Array,
    call: CallSpan,
    dialect: Dialect,
    signal: AbortSignal,
  ): Promise<ParsedCall<Parsed>>;
  /**
   * Applies the policy of the client, including values that it sets in the call. While values are unconverted, all
   * rules but the one for related records apply.
   */
  authorize(call: Parsed, client: Client, values: ValuesState, signal: AbortSignal): Promise<Parsed | Denial>;
  /** Server and database of a call that its policy refused, for its record; null if unknown. */
  nameTarget(call: Parsed): Promise<CallTrace['target']>;
  /**
   * Finds the server, and checks that it may be reached. The client decides whose user in Odoo runs the call, if the
   * instance leaves that to persons.
   */
  resolve(call: Parsed, client: Client): Promise<Resolved | Denial>;
  /** Whether values of the call or of its result can be converted. */
  hasValues?(call: Parsed): boolean;
  /**
   * Converts the values of a call whose caller prefers normalized values. It runs between two applications of the
   * policy: the first allows the question for the types of fields, the second checks the values that are sent. Absent
   * if calls of the operation have no values.
   */
  convertValues?(
    call: Parsed,
    server: Resolved,
    context: CallContext,
  ): Promise<{ call: Parsed } | { reply: Reply }>;
  /**
   * Applies the rules of the client's policy for fields and paths, which need types of fields. Runs last before the
   * call is built. Absent if calls of the operation name no fields.
   */
  applyFieldRules?(
    call: Parsed,
    server: Resolved,
    context: CallContext,
  ): Promise<{ call: Parsed } | { reply: Reply }>;
  /**
   * Applies the client's policy to records that the call changes through its own, which needs types of fields. Only for
   * a call that lacks them. `approvalRule`: the rule because of which it needs an approval for that.
   */
  applyRelatedRules?(
    call: Parsed,
    server: Resolved,
    context: CallContext,
  ): Promise<{ reply: Reply } | { approvalRule: string | null }>;
  /**
   * Refuses a query by fields that Odoo cannot search, sort or group by; null: it may be sent. Absent if calls of the
   * operation have no query.
   */
  checkQuery?(call: Parsed, server: Resolved, context: CallContext): Promise<Reply | null>;
  /** Finds the types of the fields of the model of a call. Absent if calls of the operation have none. */
  findFields?(
    call: Parsed,
    server: Resolved,
    names: readonly string[],
    context: CallContext,
  ): Promise<FoundTypes>;
  /** Builds what is sent. */
  build(call: Parsed, server: Resolved, dialect: Dialect, signal: AbortSignal): Promise<Prepared | Denial>;
  readonly steps: readonly Step<Prepared>[];
  /** The steps for a call with a follow-up. Absent if calls of the operation have none. */
  readonly followUpSteps?: readonly Step<Prepared>[];
}
