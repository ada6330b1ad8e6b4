/** The interface of a tool. Knows neither HTTP nor the SDK. */

import type { NeededConfirmation } from '@erp-proxy/gateway/terms';
import type { CompiledPolicy } from '@erp-proxy/policy';
import type { z } from 'zod';
import type { Session } from './session.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Schema of the arguments: an object of scalars, lists and JSON values. */
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Valid arguments as JSON, shown in the error about invalid ones. */
  readonly example: string;
  readonly hints: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  /** True if a key with this policy could use the tool on any model. Null: the key has no policy. */
  isOffered(policy: CompiledPolicy | null): boolean;
  /** Returns the call on Odoo that cannot be undone; null if there is none. */
  findFinalCall(args: Arguments): FinalCall | null;
  /** Writes the question to a person before a call that cannot be undone. */
  ask(args: Arguments, session: Session): Promise<string>;
  run(args: Arguments, session: Session): Promise<Answer | AnswerWithPart>;
}

/** What stands beside the structured content of an answer, in the form of the protocol. */
export type AnswerPart =
  /** A picture for a model that can see pictures. `data`: the bytes in base64. */
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  /** A file that the client can read with this request's rights. */
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
      readonly size: number;
    };

export class AnswerWithPart {
  readonly answer: Answer;
  readonly part: AnswerPart;

  constructor(answer: Answer, part: AnswerPart) {
    this.answer = answer;
    this.part = part;
  }
}

export interface FinalCall {
  model: string;
  method: string;
  /** `removals`: the call can be undone, unless its values remove records of a list. */
  of: NeededConfirmation['of'];
}

/** Valid arguments of a tool, of any type. */
// biome-ignore lint/suspicious/noExplicitAny: defineTool gives each tool the type of its schema
export type Arguments = any;

/** The structured content of an answer, which is JSON. */
export type Answer = Record<string, unknown>;

/** Creates a tool whose functions get arguments of the type of its schema. */
export function defineTool<Input extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'run' | 'ask' | 'findFinalCall'> & {
    input: Input;
    final?: {
      find(args: z.output<Input>): FinalCall | null;
      ask(args: z.output<Input>, session: Session): Promise<string>;
    };
    run(args: z.output<Input>, session: Session): Promise<Answer | AnswerWithPart>;
  },
): Tool {
  const { final = NEVER_FINAL, ...others } = tool;
  return { ...others, findFinalCall: final.find, ask: final.ask };
}

const NEVER_FINAL = { find: () => null, ask: async () => '' };
