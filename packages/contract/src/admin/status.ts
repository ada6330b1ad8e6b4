/** The state of the proxy, and the problems that need an administrator. */
import { z } from 'zod';
import { actor } from './actor.ts';
import { ROLES } from './roles.ts';
import { named, time } from './schema-names.ts';
import { ATTENTION_KINDS, ATTENTION_PARTS, ATTENTION_SEVERITIES } from './values.ts';

const checkState = z.enum(['ok', 'degraded', 'failed']);
export type CheckState = z.infer<typeof checkState>;

const upstream = z.object({
  database: z.string().describe('Address and name of the database.'),
  running: z.int(),
  waiting: z.int(),
  background_running: z
    .int()
    .describe(
      'Calls that interactive calls go before, such as pages of exports. They count in `running`, too.',
    ),
  background_waiting: z.int(),
  limit: z.int().describe('Number of calls that may run at present.'),
  breaker: z.enum(['closed', 'open', 'half_open']),
  retry_after_seconds: z.int().describe('Seconds until the next probe; 0 while the breaker is closed.'),
  version: z.string().nullable().describe('Version of the server, as in `18.0`; null: not known.'),
  protocol: z
    .enum(['jsonrpc', 'json2'])
    .nullable()
    .describe('The newest protocol of the server; null: not known.'),
  answer_ms: z.int().nullable().describe('Mean answer time; null: not known.'),
});
export type UpstreamView = z.infer<typeof upstream>;

export const statusView = named(
  'Status',
  z.object({
    version: z.string(),
    started_at: time,
    store: z.string(),
    checks: z
      .record(z.string(), z.object({ state: checkState, detail: z.string().nullable() }))
      .describe('The checks of `/readyz`.'),
    audit: z.object({ waiting: z.int(), lost: z.int() }),
    upstreams: z
      .array(upstream)
      .describe(
        'The upstream databases that this process knows, at most 1,000. A command that works on the store knows none.',
      ),
  }),
);
export type StatusView = z.infer<typeof statusView>;

/** Tells whether the proxy can start a sandbox Odoo: only after a first start, while no instance is stored. */
export const sandboxView = named('SandboxState', z.object({ available: z.boolean() }));
export type SandboxView = z.infer<typeof sandboxView>;

const attentionItem = z.object({
  kind: z.enum(ATTENTION_KINDS),
  severity: z.enum(ATTENTION_SEVERITIES),
  target: z.string().describe('As in the audit: `key <id>`, `instance <name>`.'),
  text: z.string().describe('The cause, and what to do.'),
  since: time.nullable().describe('When it began; null: not known.'),
});
export type AttentionItem = z.infer<typeof attentionItem>;

export const attentionView = named(
  'Attention',
  z.object({
    items: z.array(attentionItem).describe('The worst first, and then the oldest.'),
    more: z.int().describe('Number of further items.'),
    incomplete: z
      .array(z.enum(ATTENTION_PARTS))
      .describe('What was looked at in part only, because there is too much of it or the store failed.'),
  }),
);
export type AttentionView = z.infer<typeof attentionView>;

export const loginInput = named(
  'Login',
  z
    .strictObject({
      token: z.string().meta({ writeOnly: true }).describe('The setting `admin.token`.').exactOptional(),
      code: z
        .string()
        .meta({ writeOnly: true })
        .describe('The code of a sign-in link, as `erp-proxy console` prints it. It works once.')
        .exactOptional(),
    })
    .refine(
      ({ token, code }) => (token === undefined) !== (code === undefined),
      'must have either `token` or `code`',
    ),
);

export const sessionView = named(
  'Session',
  z.object({
    actor,
    role: z.enum(ROLES),
    expires_at: time.nullable().describe('When it ends; null: not by itself.'),
  }),
);
export type SessionView = z.infer<typeof sessionView>;

export const signInView = named(
  'SignIn',
  z.object({
    token: z.boolean().describe('True if `admin.token` signs in.'),
    provider: z.string().nullable().describe('Name of the identity provider that signs in; null: none.'),
    sign_in_url: z
      .string()
      .nullable()
      .describe('Address at which a browser begins a sign-in by the provider; null: there is none.'),
  }),
);
export type SignInView = z.infer<typeof signInView>;

const isPort = (text: string) => /^\d{4,5}$/.test(text) && Number(text) >= 1024 && Number(text) <= 65_535;

/** A program gives `port` and `challenge`, and the browser then goes to the program instead of the console. */
export const startSignInQuery = z
  .strictObject({
    return_to: z.string().describe('Path of the page of the console to open then.').exactOptional(),
    port: z
      .string()
      .refine(isPort, { error: 'must be a port from 1024 to 65535' })
      .describe('Port at 127.0.0.1 of a program that waits for the sign-in.')
      .exactOptional(),
    challenge: z
      .string()
      .regex(/^[\w-]{43}$/, { error: 'must be a SHA-256 in base64url' })
      .describe('SHA-256, in base64url, of the `verifier` with which the program takes its session.')
      .exactOptional(),
  })
  .refine(({ port, challenge }) => (port === undefined) === (challenge === undefined), {
    error: 'needs `port` and `challenge` together',
  });
export type StartSignInQuery = z.infer<typeof startSignInQuery>;

export const logoutTokenInput = named('LogoutTokenInput', z.object({ logout_token: z.string().max(16_000) }));

export const programSessionInput = named(
  'ProgramSessionInput',
  z.strictObject({
    code: z
      .string()
      .max(100)
      .describe('The code that the browser has brought. It works once, within two minutes.'),
    verifier: z.string().max(200).describe('The text whose SHA-256 is the `challenge` of the sign-in.'),
  }),
);

/** Header of an answer that gives a program a new value for its session. */
export const SESSION_HEADER = 'x-erp-proxy-session';

export const programSessionView = named(
  'ProgramSession',
  sessionView.extend({
    session: z
      .string()
      .describe(
        `To send as \`authorization: Bearer\`. If an answer has the header \`${SESSION_HEADER}\`, its value replaces this one.`,
      ),
  }),
);

const invalidMember = z.object({
  path: z.string().describe('Such as `policy.models["res.*"][0]`; empty for the input as a whole.'),
  message: z.string().describe('Continues a sentence that begins with the path, such as `must be a list`.'),
});
export type InvalidMember = z.infer<typeof invalidMember>;

/** A problem (RFC 9457), as `application/problem+json`. */
export const problem = named(
  'Problem',
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('The cause, and what to do.'),
    faults: z.array(invalidMember).describe('The faults of the input, each with its place.').exactOptional(),
  }),
);
export type Problem = z.infer<typeof problem>;
