/**
 * The reference page: shows the OpenAPI document, and sends requests with the reader's key. The key stays in its input
 * field: it is never stored, and commands show a variable in its place. All text is added as text, never as markup.
 */

const DOCUMENT = 'openapi.json';
/** Maximum depth of nested schemas that are shown. Deeper ones are only named. */
const DEPTH_MAX = 4;
/** A longer answer is cut, because it would make the page slow. */
const SHOWN_CHARACTERS_MAX = 200_000;

const find = (id) => document.getElementById(id);
let api = {};

find('origin').textContent = location.origin;
takeKey();
await showDocument();

/** Takes the key of the demo's sandbox from the address, where it must not stay. */
function takeKey() {
  const [, key] = /^#key=(ep_[\w-]+)$/.exec(location.hash) ?? [];
  if (key === undefined) return;
  find('client-key').value = key;
  history.replaceState(null, '', location.pathname);
}

async function showDocument() {
  try {
    const answer = await fetch(DOCUMENT);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    api = await answer.json();
  } catch (error) {
    find('state').textContent = `The document could not be loaded: ${error.message}`;
    return;
  }
  find('version').textContent = api.info.version;
  const routes = listRoutes();
  find('routes').replaceChildren(...api.tags.flatMap((tag) => listLinks(tag, routes)));
  find('content').replaceChildren(...api.tags.flatMap((tag) => showTag(tag, routes)));
  // The element that the address names did not exist before.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function listRoutes() {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

function listLinks(tag, routes) {
  const links = routes
    .filter(({ operation }) => operation.tags.includes(tag.name))
    .map(({ path, method, operation }) =>
      make('li', {}, make('a', { href: `#${operation.operationId}` }, `${method} ${path}`)),
    );
  return [make('h2', {}, tag.name), make('ul', {}, ...links)];
}

function showTag(tag, routes) {
  const shown = routes.filter(({ operation }) => operation.tags.includes(tag.name)).map(showRoute);
  return [make('h2', {}, tag.name), ...showText(tag.description), ...shown];
}

function showRoute(route) {
  const { path, method, operation } = route;
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const title = make('h3', { id: `${operationId}-title` });
  title.append(make('span', { class: 'method' }, method), ' ', make('code', {}, path));
  const parts = [title, ...showText(summary), ...showText(description)];
  if (parameters.length > 0) parts.push(make('h4', {}, 'Parameters'), showParameters(parameters));
  if (body) parts.push(fold('Body', showSchema(body.schema)));
  const examples = Object.values(body?.examples ?? {});
  if (examples.length > 0)
    parts.push(fold('Examples', ...examples.flatMap((it) => showExample(it, operation))));
  parts.push(fold('Answers', showAnswers(responses)), fold('Try it', makeForm(route, body, examples)));
  return make(
    'section',
    { class: 'route', id: operationId, 'aria-labelledby': `${operationId}-title` },
    ...parts,
  );
}

function showParameters(parameters) {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    make('code', {}, name),
    `${place}${required ? ', required' : ''}`,
    nameType(schema),
    make('div', {}, ...showText(description)),
  ]);
  return makeTable(['name', 'place', 'type', 'meaning'], rows);
}

function showAnswers(responses) {
  const rows = Object.entries(responses).map(([status, { description, content = {} }]) => {
    const { schema } = Object.values(content)[0] ?? {};
    const shape = schema ? [fold(nameType(schema), showSchema(schema))] : [];
    return [make('code', {}, status), make('div', {}, ...showText(description), ...shape)];
  });
  return makeTable(['status', 'meaning'], rows);
}

function showExample({ summary, value }, { responses }) {
  const examples = responses[200]?.content?.['application/json']?.examples ?? {};
  const answer = Object.values(examples).find((it) => it.summary === summary)?.value;
  const shown = [make('p', {}, summary), make('pre', {}, print(value))];
  return answer === undefined ? shown : [...shown, make('pre', { 'aria-label': 'Answer' }, print(answer))];
}

/** Shows the members of a schema as a table. The schemas of the members are folded. */
function showSchema(given, depth = 0) {
  const schema = resolve(given);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) {
    return make('ul', {}, ...choices.map((it) => make('li', {}, nameType(it), ...showInner(it, depth))));
  }
  if (schema.items)
    return make('div', {}, `a list of ${nameType(schema.items)}`, ...showInner(schema.items, depth));
  if (!schema.properties) return make('div', {}, nameType(schema), ...showText(schema.description));
  const rows = Object.entries(schema.properties).map(([name, member]) => [
    make('code', {}, name),
    `${nameType(member)}${schema.required?.includes(name) ? ', required' : ''}`,
    make('div', {}, ...showText(member.description), ...showInner(member, depth)),
  ]);
  return makeTable(['member', 'type', 'meaning'], rows);
}

function showInner(given, depth) {
  const schema = resolve(given);
  const hasMembers = schema.properties ?? schema.items ?? schema.oneOf ?? schema.anyOf;
  if (!hasMembers || depth >= DEPTH_MAX) return [];
  return [fold('members', () => showSchema(given, depth + 1))];
}

function resolve(schema) {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? (schema ?? {}) : (api.components.schemas[name] ?? {});
}

function nameType(schema) {
  if (schema?.$ref) return schema.$ref.split('/').at(-1);
  const { type, const: value, enum: values, items, oneOf, anyOf } = schema ?? {};
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.length > 8 ? 'one of a list' : values.map((it) => JSON.stringify(it)).join(' | ');
  if (items) return `list of ${nameType(items)}`;
  if (oneOf ?? anyOf) return (oneOf ?? anyOf).map(nameType).join(' | ');
  return Array.isArray(type) ? type.join(' | ') : (type ?? 'any');
}

/** Creates the form that sends a request to this route. */
function makeForm(route, body, examples) {
  const { operation, method } = route;
  const inputs = new Map();
  const form = make('form', { class: 'try' });
  for (const parameter of operation.parameters ?? []) {
    const input = make('input', { type: 'text', spellcheck: 'false' });
    if (parameter.required) input.required = true;
    inputs.set(parameter, input);
    form.append(make('label', {}, parameter.name, input));
  }
  const text = body && make('textarea', { spellcheck: 'false', 'aria-label': 'Body of the request' });
  if (text) {
    text.value = examples[0] ? print(examples[0].value) : '{}';
    if (examples.length > 1) form.append(make('label', {}, 'Example', makeChoice(examples, text)));
    form.append(make('label', {}, 'Body', text));
  }
  const send = make('button', { type: 'submit' }, `Send ${method}`);
  const output = make('div', { role: 'status', 'aria-live': 'polite' });
  form.append(send, output);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      await sendRequest(makeRequest(route, inputs, text?.value), output);
    } finally {
      send.disabled = false;
    }
  });
  return form;
}

function makeChoice(examples, text) {
  const options = examples.map(({ summary }, at) => make('option', { value: String(at) }, summary));
  const choice = make('select', {}, ...options);
  choice.addEventListener('change', () => {
    text.value = print(examples[Number(choice.value)].value);
  });
  return choice;
}

function makeRequest({ path, method, operation }, inputs, body) {
  const headers = {};
  const query = new URLSearchParams();
  let target = path;
  for (const [{ name, in: place }, { value }] of inputs) {
    if (value === '') continue;
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') query.append(name, value);
    else headers[name] = value;
  }
  if (body !== undefined) headers['content-type'] = 'application/json';
  // Relative to this page, because a reverse proxy may serve it below a prefix.
  const url = new URL(`.${target}${query.size > 0 ? `?${query}` : ''}`, location.href);
  return { url, method, headers, secret: findSecret(operation), body };
}

/** Returns the header for the reader's key, and the variable that commands show in its place. */
function findSecret({ security = [] }) {
  const names = security.flatMap((way) => Object.keys(way));
  const [clientKey, adminToken] = [find('client-key').value.trim(), find('admin-token').value.trim()];
  if (names.includes('clientKey') && clientKey !== '') {
    return { name: 'x-proxy-api', prefix: '', value: clientKey, variable: '$ERP_PROXY_KEY' };
  }
  if (names.includes('adminToken') && adminToken !== '') {
    return {
      name: 'authorization',
      prefix: 'Bearer ',
      value: adminToken,
      variable: '$ERP_PROXY_ADMIN_TOKEN',
    };
  }
  return null;
}

async function sendRequest({ url, method, headers, secret, body }, output) {
  const command = make('pre', { 'aria-label': 'The same request with curl' });
  command.textContent = printCommand({ url, method, headers, secret, body });
  output.replaceChildren(make('p', {}, 'Waiting for the answer…'), command);
  try {
    const sent = secret ? { ...headers, [secret.name]: secret.prefix + secret.value } : headers;
    const answer = await fetch(url, { method, headers: sent, body, credentials: 'omit', cache: 'no-store' });
    const text = await answer.text();
    const status = make('p', answer.ok ? {} : { class: 'bad' }, `Status ${answer.status}`);
    const shown = make('pre', { 'aria-label': 'Answer' }, printAnswer(text));
    output.replaceChildren(status, ...explainRefusal(answer.status, text), shown, command);
  } catch (error) {
    output.replaceChildren(make('p', { class: 'bad' }, `No answer: ${error.message}`), command);
  }
}

/** Says what to do if the key may not be used by this page. */
function explainRefusal(status, text) {
  if (status !== 403 || !/"rule":\s*"cors_origins"/.test(text)) return [];
  const advice = `A web page can use a key only if the policy of the key names the page. Use a key whose policy has \`"cors_origins": ["${location.origin}"]\`, or run the command below.`;
  return showText(advice);
}

function printAnswer(text) {
  const cut = text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}\n…` : null;
  if (cut !== null) return cut;
  try {
    return print(JSON.parse(text));
  } catch {
    return text;
  }
}

function printCommand({ url, method, headers, secret, body }) {
  const lines = [`curl -X ${method} ${quote(url.href)}`];
  if (secret) lines.push(`-H "${secret.name}: ${secret.prefix}${secret.variable}"`);
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-d ${quote(body)}`);
  return lines.join(' \\\n  ');
}

function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function print(value) {
  return JSON.stringify(value, null, 2);
}

/** Creates paragraphs of a text, with `code` in backticks. */
function showText(text = '') {
  const paragraphs = text.split('\n\n').filter((it) => it !== '');
  return paragraphs.map((paragraph) => {
    const parts = paragraph.split('`').map((part, at) => (at % 2 === 1 ? make('code', {}, part) : part));
    return make('p', {}, ...parts);
  });
}

/** Creates a folded section. If its content is a function, it is called when the section is first opened. */
function fold(title, ...content) {
  const details = make('details', {}, make('summary', {}, title));
  const [first] = content;
  if (typeof first !== 'function') details.append(...content);
  else details.addEventListener('toggle', () => details.append(first()), { once: true });
  return details;
}

function makeTable(titles, rows) {
  const head = make('tr', {}, ...titles.map((title) => make('th', { scope: 'col' }, title)));
  const body = rows.map((cells) => make('tr', {}, ...cells.map((cell) => make('td', {}, cell))));
  return make(
    'div',
    { class: 'table' },
    make('table', {}, make('thead', {}, head), make('tbody', {}, ...body)),
  );
}

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
