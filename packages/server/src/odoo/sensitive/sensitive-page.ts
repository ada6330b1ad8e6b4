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

A [policy](policies.md) allows the methods on this page only if it names them literally: an entry of its \`models\` must be
the model itself and list the method itself, both without \`*\`, as in \`{"res.users": ["change_password"]}\`. A key
without a policy is not restricted.

## Rules

Each method is on the list because of one of these rules. The list covers Odoo Community 14 to 19, parts of Odoo
Enterprise, and well-known modules of the Odoo Community Association (OCA).

| rule | a model or method is on the list that |
|---|---|
${rules.join('\n')}

Some data are not on the list although they can be secret:

- Fields of models for everyday use: \`access_token\` of an order, passwords of electronic invoices on \`res.company\` or
  \`account.journal\`, tokens of calendars on \`res.users\`, \`signup_url\` of a partner, the PIN of an employee. Odoo shows
  most of them to administrators only, so do not give the Odoo user of a key such rights.
- \`ir.attachment\` and \`mail.message\`: Odoo checks the access rights to the record that they belong to. A policy that
  names these models allows them.

## List

\`writes\` stands for all methods that are not known to be read-only.

| rule | models | methods | why | Odoo |
|---|---|---|---|---|
${SENSITIVE_TABLE.map(renderRow).join('\n')}

## Members that lead to them

The values of one record can create, change and delete other records. For example,
\`{"user_ids": [[0, 0, {"login": "x"}]]}\` in the values of a partner creates a user. The members below lead to models of
the list. A call may use them only if the policy names that model and the method of a direct call, both without \`*\`:
\`{"res.partner": ["write"], "res.users": ["create"]}\`.

| command | required method |
|---|---|
| \`[0, 0, {…}]\` | \`create\` |
| \`[1, id, {…}]\` | \`write\` |
| \`[2, id]\` | \`unlink\` |
| \`[4, id]\` | \`write\`; none for a \`reference\` |
| \`[3, id]\`, \`[5]\`, \`[6, 0, [ids]]\`, a list of ids, \`false\` | \`write\`, and \`unlink\` for \`lines\`; none for a \`reference\` |
| any other list or object | \`create\`, \`write\` and \`unlink\` |
| any value of a member of the form \`values\` | \`write\` |
| a column of \`load\` that leads through the member (\`user_ids/login\`) | \`create\` and \`write\` |
| a column of \`load\` that links (\`user_ids\`, \`user_ids/id\`, \`user_ids/.id\`) | \`write\`; none for a \`reference\` |

- The proxy searches all arguments, at any depth, of every method that is not known to be read-only.
- A list of pairs counts as an object, as in Python: \`[["user_ids", [[5]]]]\`. A context of pairs is refused.
- In the context, \`default_user_ids\` counts as \`user_ids\`. A default can apply to records of any model, so only rows
  without models apply to it. To avoid that, give the value in the record.
- \`lines\` are one2many fields: Odoo can delete a record that is removed from them. A \`relation\` is a many2many field
  whose links change rights. Links of a \`reference\` only assign or choose, so \`[[6, 0, [2]]]\` is allowed.
- Rows with models in the last column apply to values of those models only. For values inside values, the model is known
  only below a member of this table; elsewhere the row without models applies.
- \`free\` members only make the model known: users may be assigned to tasks inside tasks.
- A call is refused if there is too much to search: more than 15 positional arguments, more than 1,000 names with
  escapes, more than 1,000 different names with the endings below, more than 10,000 columns of \`load\`, or a column of
  more than 1,000 bytes.
- Other members (\`order_line\`, \`invoice_line_ids\`, \`child_ids\` of a partner) are allowed, because their records belong
  to the record of the call. A policy that names \`write\` of \`res.partner\` thus allows creating contacts with
  \`child_ids\`.

| members | lead to | form | why | of models |
|---|---|---|---|---|
${SENSITIVE_MEMBERS.map(renderMember).join('\n')}

## Members of the context

With these members of \`context\`, any method that creates records changes records of another model. A call with one of
them needs a policy that names that model and method, both without \`*\`.

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
