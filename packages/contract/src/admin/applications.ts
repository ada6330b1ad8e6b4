/** Applications that persons have allowed to act as them, by signing in to the proxy. */
import { z } from 'zod';
import { named, PAGE_QUERY, pageOf, time } from './schema-names.ts';

const MEMBERS = {
  id: z.string().describe('Identifies the consent of one person to one application.'),
  name: z
    .string()
    .describe('Name of the application, as it has told it. Nobody has checked it; `address` was.'),
  application: z.string().describe('Id of the application: that of its registration, or its address.'),
  address: z
    .string()
    .describe('Where the application got its code: an origin, such as `https://claude.ai`, or a scheme.'),
  scopes: z
    .array(z.string())
    .describe('What the application may do: `mcp` for the tools of agents, `erp` for calls.'),
  created_at: time.describe('When the person agreed.'),
  used_at: time.describe('When the application got its last token.'),
  expires_at: time.describe('When the person must agree again.'),
};

/** As its person sees it. */
export const ownApplicationView = named('OwnApplication', z.object(MEMBERS));
export type OwnApplicationView = z.infer<typeof ownApplicationView>;

export const ownApplications = named(
  'OwnApplications',
  z.object({
    person: z.string().describe('`<issuer>/<subject>` of the person.'),
    applications: z.array(ownApplicationView),
  }),
);
export type OwnApplications = z.infer<typeof ownApplications>;

/** An application of any person. */
export const applicationView = named(
  'Application',
  z.object({ person: z.string().describe('`<issuer>/<subject>`'), ...MEMBERS }),
);
export type ApplicationView = z.infer<typeof applicationView>;

export const applicationPage = named('ApplicationPage', pageOf(applicationView));

export const applicationQuery = z.strictObject({
  ...PAGE_QUERY,
  person: z.string().describe('The whole id.').exactOptional(),
});
