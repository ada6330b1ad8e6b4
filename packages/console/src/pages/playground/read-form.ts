/** Keeps the form in the URL, or in the storage of the tab if it is too long for a URL. */
import { readText, type SearchValues } from '../../parts/search-values.ts';
import { type CallForm, EMPTY_FORM } from './call-form.ts';

/** The parameters of the URL: the members of the form that differ from the empty form, or the id of a stored draft. */
export type FormSearch = Partial<CallForm> & { draft?: string };

const URL_LENGTH_MAX = 4_000;
const DRAFT_PREFIX = 'erp-proxy.playground.';

/** Reads the form. An invalid member counts as absent. */
export function readForm(value: unknown): CallForm {
  const given = (typeof value === 'object' && value !== null ? value : {}) as SearchValues;
  const text = (name: keyof CallForm) => readText(given[name]) ?? String(EMPTY_FORM[name]);
  return {
    instance: text('instance'),
    url: text('url'),
    db: text('db'),
    user: text('user'),
    key: text('key'),
    model: text('model'),
    action: text('action'),
    args: readArgs(given['args']),
    values: given['values'] === 'normalized' ? 'normalized' : 'raw',
  };
}

function readArgs(value: unknown): CallForm['args'] {
  if (typeof value !== 'object' || value === null) return EMPTY_FORM.args;
  const entries = Object.entries(value).filter(([, text]) => typeof text === 'string' && text !== '');
  return Object.fromEntries(entries as [string, string][]);
}

export function readSearch(search: SearchValues): FormSearch {
  const draft = readText(search['draft']);
  return draft === undefined ? omitDefaults(readForm(search)) : { draft };
}

export function loadForm(search: FormSearch, storage: Pick<Storage, 'getItem'>): CallForm {
  if (search.draft === undefined) return readForm(search);
  try {
    return readForm(JSON.parse(storage.getItem(DRAFT_PREFIX + search.draft) ?? 'null'));
  } catch {
    return EMPTY_FORM;
  }
}

/** Returns the URL parameters for the form. Stores a long form under the id. */
export function saveForm(form: CallForm, draftId: string, storage: Pick<Storage, 'setItem'>): FormSearch {
  const search = omitDefaults(form);
  if (encodeURIComponent(JSON.stringify(search)).length <= URL_LENGTH_MAX) return search;
  try {
    storage.setItem(DRAFT_PREFIX + draftId, JSON.stringify(form));
  } catch {
    // The storage is full: the input is kept until the page is left.
  }
  return { draft: draftId };
}

function omitDefaults(form: CallForm): FormSearch {
  const { args, ...texts } = form;
  const given = Object.entries(texts).filter(([name, value]) => value !== EMPTY_FORM[name as keyof CallForm]);
  const hasDefaultArgs = JSON.stringify(args) === JSON.stringify(EMPTY_FORM.args);
  return { ...Object.fromEntries(given), ...(hasDefaultArgs ? {} : { args }) };
}
