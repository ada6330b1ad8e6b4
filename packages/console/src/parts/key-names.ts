/** Names of client keys by id, for lists whose rows have ids only. */
import type { KeyNamesView } from '@erp-proxy/contract';
import { keepPreviousData, type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { send } from '../api/send.ts';

export type KeyNames = Readonly<Record<string, string>>;

/** Maximum ids of one request. */
const IDS_MAX = 100;
const FRESH_MS = 60_000;
const NONE: KeyNames = {};

/**
 * Returns the names of these keys. An unknown name is left out, and lists show the id instead. All ids are sent in one
 * request, each once.
 */
export function useKeyNames(ids: readonly (string | null)[]): KeyNames {
  const asked = [...new Set(ids.filter((id) => id !== null && isStoredKey(id)))].sort() as string[];
  const { data = NONE } = useQuery({ ...readKeyNames(asked), enabled: asked.length > 0 });
  return data;
}

/** False for the id of a token, `<issuer>/<subject>`, and for that of an administrator's call without a key. */
export function isStoredKey(id: string): boolean {
  return /^\w+$/.test(id) && id !== 'proxy';
}

function readKeyNames(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['/keys', 'names', ids],
    queryFn: async ({ client, signal }): Promise<KeyNames> => {
      const missing = ids.filter((id) => !isFresh(client, id));
      for (let at = 0; at < missing.length; at += IDS_MAX)
        await readMissing(client, missing.slice(at, at + IDS_MAX), signal);
      const names = ids.map((id) => [id, client.getQueryData<string | null>(findCacheKey(id))] as const);
      return Object.fromEntries(names.filter((entry): entry is [string, string] => entry[1] != null));
    },
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
}

async function readMissing(client: QueryClient, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const query = { ids: ids.join(',') };
  const { items } = await send<KeyNamesView>({ method: 'GET', path: '/keys/names', query }, signal);
  const names = new Map(items.map(({ id, name }) => [id, name]));
  for (const id of ids) client.setQueryData<string | null>(findCacheKey(id), names.get(id) ?? null);
}

function isFresh(client: QueryClient, id: string): boolean {
  const state = client.getQueryState(findCacheKey(id));
  return state !== undefined && !state.isInvalidated && Date.now() - state.dataUpdatedAt < FRESH_MS;
}

function findCacheKey(id: string): readonly string[] {
  return ['/keys', 'name', id];
}
