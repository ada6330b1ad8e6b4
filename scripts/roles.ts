/** Renders docs/roles.md from the table of the admin routes, which the server checks. */
import { includesRole, ROLES } from '@erp-proxy/contract';
import { ADMIN_ROUTES } from '@erp-proxy/http/admin/table';

export function renderRoles(): string {
  const rows = ADMIN_ROUTES.filter(({ isOpen }) => !isOpen).map(({ method, path, role, reach, summary }) => {
    const marks = ROLES.map((held) => (includesRole(held, role) ? 'yes' : ''));
    return `| \`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\` | ${marks.join(' | ')} | ${reach === 'all' ? '' : 'yes'} | ${summary} |`;
  });
  return `<!-- Generated from packages/contract/src/admin/operations.ts by "npm run docs": change it there. -->

# Roles

Which role may use which route of the [admin API](admin-api.md). [operators.md](operators.md) describes the roles, and
how to get one. \`admin.token\`, and sessions that were started with it or with a link, have the role \`admin\`. Signing
in and out needs no role.

Who is [limited to some of the instances](operators.md#limited-to-instances) may use the routes with a yes below
\`limited\`, for these instances. The others reach the whole proxy.

| route | ${ROLES.join(' | ')} | limited | purpose |
|---|${ROLES.map(() => '---|').join('')}---|---|
${rows.join('\n')}
`;
}
