/** Renders docs/roles.md from the table of the admin routes, which the server checks. */
import { includesRole, ROLES } from '@erp-proxy/contract';
import { ADMIN_ROUTES } from '../packages/server/src/http/admin/table.ts';

export function renderRoles(): string {
  const rows = ADMIN_ROUTES.filter(({ isOpen }) => !isOpen).map(({ method, path, role, summary }) => {
    const marks = ROLES.map((held) => (includesRole(held, role) ? 'yes' : ''));
    return `| \`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\` | ${marks.join(' | ')} | ${summary} |`;
  });
  return `<!-- Generated from packages/contract/src/admin/operations.ts by "npm run docs": change it there. -->

# Roles

Which role may use which route of the [admin API](admin-api.md). [operators.md](operators.md) describes the roles, and
how to get one. \`admin.token\`, and sessions that were started with it or with a link, have the role \`admin\`. Signing
in and out needs no role.

| route | ${ROLES.join(' | ')} | purpose |
|---|${ROLES.map(() => '---|').join('')}---|
${rows.join('\n')}
`;
}
