/**
 * Converts HTML into the form that Odoo stores, in the plain cases: a text becomes a paragraph, and well-formed
 * elements stay as they are. Odoo also repairs HTML and removes scripts. The sandbox does not imitate that: it refuses
 * HTML that Odoo would change in this way.
 */
import { Fault } from './fault.ts';

const blocks = new Set('p ul ol h1 h2 h3 h4 h5 h6 table blockquote pre hr'.split(' '));
const inside = new Set(
  'a b br code del em i img li s small span strong sub sup tbody td th thead tr u'.split(' '),
);
const empty = new Set(['br', 'hr', 'img']);
const tag = /<(\/?)([a-z]\w*)((?:\s+[a-z][\w-]*="[^"<>]*")*)\s*(\/?)>/gi;
const attribute = /\s+([a-z][\w-]*)="([^"]*)"/gi;

export function cleanHtml(given: string): string {
  const html = escapeText(given.trimStart());
  if (html === '') return '';
  const roots = listRoots(html, given);
  const [first] = roots;
  if (roots.length === 1 && first !== 'text') return html;
  if (roots.every((root) => blocks.has(root) || root === 'space')) return html;
  if (roots.some((root) => blocks.has(root))) throw refuse(given);
  // Only text and inline elements.
  return first === 'text' ? `<p>${html}</p>` : `<span>${html}</span>`;
}

/** The names of the outermost elements, with `text` or `space` for the text between them. */
function listRoots(html: string, given: string): string[] {
  const roots: string[] = [];
  const open: string[] = [];
  let end = 0;
  const addText = (text: string) => {
    if (/[<>]/.test(text)) throw refuse(given);
    if (open.length === 0 && text) roots.push(text.trim() ? 'text' : 'space');
  };
  for (const match of html.matchAll(tag)) {
    const [whole, slash, name = '', attributes = '', closed] = match;
    addText(html.slice(end, match.index));
    end = match.index + whole.length;
    if (!(blocks.has(name) || inside.has(name)) || closed || !areHarmless(attributes)) throw refuse(given);
    if (slash) {
      if (open.pop() !== name) throw refuse(given);
      continue;
    }
    // A block inside a paragraph would end the paragraph.
    if (open.length === 0) roots.push(name);
    else if (blocks.has(name) && open.at(-1) === 'p') throw refuse(given);
    if (!empty.has(name)) open.push(name);
  }
  addText(html.slice(end));
  if (open.length > 0) throw refuse(given);
  return roots;
}

function areHarmless(attributes: string): boolean {
  return [...attributes.matchAll(attribute)].every(([, name = '', value = '']) =>
    name === 'href' || name === 'src'
      ? /^(https?:|mailto:|\/|#|[\w-]+\.)/.test(value)
      : !name.startsWith('on'),
  );
}

function escapeText(text: string): string {
  const escaped = text.replace(/&(?!(?:\w+|#\d+|#x[\da-f]+);)/gi, '&amp;');
  return escaped.includes('<') ? escaped : escaped.replaceAll('>', '&gt;');
}

function refuse(html: string): Fault {
  return new Fault(
    'builtins.NotImplementedError',
    `The sandbox stores only HTML that Odoo does not repair or clean: ${html.slice(0, 100).toWellFormed()}`,
  );
}
