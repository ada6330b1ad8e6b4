/** What a tool is, and how it refuses. Knows neither HTTP nor the SDK. */
import type { z } from 'zod';
import type { CompiledPolicy } from '../policy/compile.ts';
import type { Session } from './session.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The arguments: an object of scalars, lists and JSON values. */
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Arguments that are right, as JSON, for the error about wrong ones. */
  readonly example: string;
  readonly hints: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  /** Whether a key with this policy could use the tool on any model. Null: the key has no policy. */
  isOffered(policy: CompiledPolicy | null): boolean;
  /** False if no call of the tool is ever asked about. */
  readonly mayAsk: boolean;
  /** The question to a person before the call runs; null if it runs without. */
  ask(args: Arguments, session: Session): Promise<string | null>;
  run(args: Arguments, session: Session): Promise<Answer>;
}

/** Valid arguments of a tool. */
// biome-ignore lint/suspicious/noExplicitAny: defineTool gives each tool the type of its schema
export type Arguments = any;

/** The structured content of an answer, which is JSON. */
export type Answer = Record<string, unknown>;

/** Creates a tool whose functions get arguments of the type of its schema. */
export function defineTool<Input extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'run' | 'ask' | 'mayAsk'> & {
    input: Input;
    ask?: (args: z.output<Input>, session: Session) => Promise<string | null>;
    run(args: z.output<Input>, session: Session): Promise<Answer>;
  },
): Tool {
  return { ask: async () => null, mayAsk: tool.ask !== undefined, ...tool };
}
