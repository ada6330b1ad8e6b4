/** Renders docs/sensitive-methods.md, which tells operators what a policy must name. */
import {
  SENSITIVE_CONTEXT,
  SENSITIVE_MEMBERS,
  type SensitiveContextMember,
  type SensitiveMember,
} from './sensitive-members.ts';
import { SENSITIVE_RULES, SENSITIVE_TABLE, type SensitiveRow } from './sensitive-table.ts';

export function renderSensitiveMethods(): string {
  const rules = Object.entries(SENSITIVE_RULES).map(([name, { meaning }]) => `| \`${name}\` | ${meaning} |`);
  return `<!-- Generated from packages/server/src/odoo/sensitive/sensitive-table.ts and sensitive-members.ts by "npm run docs": change it there. -->

# Methods that a policy must name

A [policy](policies.md) allows these only where an entry of its \`models\` is the model itself and lists the method itself, both
without \`*\`: \`{"res.users": ["change_password"]}\`. A key without a policy is not restricted.

## Rules

A method is on the list by one of these rules. The list covers Odoo Community 14 to 19, some of Odoo Enterprise, and well-known modules of the Odoo
Community Association (OCA).

| rule | a model or method is on the list that |
|---|---|
${rules.join('\n')}

Not on the list, although a record can hold something secret:

- Fields of models for everyday use: \`access_token\` of an order, passwords of electronic invoices on \`res.company\` or \`account.journal\`,
  tokens of calendars on \`res.users\`, \`signup_url\` of a partner, the PIN of an employee. Odoo gives most of them to administrators alone. Give the
  Odoo user of a key no such rights.
- \`ir.attachment\` and \`mail.message\`: Odoo checks the rights to the record that they belong to. A policy that names them opens them.

## List

\`writes\` stands for all methods that are not known to only read.

| rule | models | methods | why | Odoo |
|---|---|---|---|---|
${SENSITIVE_TABLE.map(renderRow).join('\n')}

## Members that lead to them

The values of one record can make, change and delete others: \`{"user_ids": [[0, 0, {"login": "x"}]]}\` of a partner makes a user. The members below
lead to models of the list. A call may use them only where the policy names that model and the method of a direct call, both without \`*\`:
\`{"res.partner": ["write"], "res.users": ["create"]}\`.

| command | takes |
|---|---|
| \`[0, 0, {…}]\` | \`create\` |
| \`[1, id, {…}]\` | \`write\` |
| \`[2, id]\` | \`unlink\` |
| \`[4, id]\` | \`write\`; of a \`reference\` nothing |
| \`[3, id]\`, \`[5]\`, \`[6, 0, [ids]]\`, a list of ids, \`false\` | \`write\`, of \`lines\` also \`unlink\`; of a \`reference\` nothing |
| any other list or object | \`create\`, \`write\` and \`unlink\` |
| any value of a member of the form \`values\` | \`write\` |
| a column of \`load\` that leads through the member (\`user_ids/login\`) | \`create\` and \`write\` |
| a column of \`load\` that links (\`user_ids\`, \`user_ids/id\`, \`user_ids/.id\`) | \`write\`; of a \`reference\` nothing |

- Every method is searched that is not known to only read: all its arguments, at any depth.
- A list of pairs counts as an object, as Python takes it: \`[["user_ids", [[5]]]]\`. A context of pairs is refused.
- In the context \`default_user_ids\` counts as \`user_ids\`. A default can reach records of any model, so that only rows without models hold. Give the
  value in the record instead.
- \`lines\` are one2many fields: Odoo can delete what is taken out of them. \`relation\` is a many2many field by which a link changes rights.
  For a \`reference\` a link only assigns or chooses: \`[[6, 0, [2]]]\` stays free.
- Rows with models in the last column hold for the values of those models. Among values within values the model is known only below a member of this
  table. Elsewhere the row without models holds.
- \`free\` members make the model known, and no more: tasks within tasks may be assigned to users.
- A call is refused where it has too much to look at: more than 15 positional arguments, more than 1,000 names with escapes, more than 1,000 different
  names that end as those below, or columns of \`load\` beyond 10,000 or beyond 1,000 bytes each.
- Other members (\`order_line\`, \`invoice_line_ids\`, \`child_ids\` of a partner) are free: what they lead to belongs to the record. A policy that
  names \`write\` of \`res.partner\` thus allows contacts to be made by \`child_ids\`.

| members | lead to | form | why | of models |
|---|---|---|---|---|
${SENSITIVE_MEMBERS.map(renderMember).join('\n')}

## Members of the context

These members of \`context\` let any method that makes records change those of another model. A call with one of them needs a policy that
names that model and method, both without \`*\`.

| member | model | method | why |
|---|---|---|---|
${SENSITIVE_CONTEXT.map(renderContextMember).join('\n')}
`;
}

function renderContextMember({ name, model, method, why }: SensitiveContextMember): string {
  return `| \`${name}\` | \`${model}\` | \`${method}\` | ${why} |`;
}

function renderMember({ members, model, form, why, of = [] }: SensitiveMember): string {
  return `| ${listNames(members)} | \`${model}\` | \`${form}\` | ${why} | ${listNames(of)} |`;
}

function renderRow({ rule, models, methods, why, versions }: SensitiveRow): string {
  const which = methods === 'writes' ? '`writes`' : listNames(methods);
  return `| \`${rule}\` | ${listNames(models)} | ${which} | ${why} | ${versions} |`;
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
