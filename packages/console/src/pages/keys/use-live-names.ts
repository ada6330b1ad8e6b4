/**
 * Models and fields of the instance that the person has chosen. If none is chosen, no server is asked. The calls are
 * the administrator's own, so the policy that is being written does not restrict them.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type { FieldTable } from '../../parts/odoo-fields.ts';
import { type OdooServer, readAllModels, readFields } from '../../parts/odoo-queries.ts';

const NO_MODELS: LiveNames['models'] = {};

export interface LiveNames {
  /** The chosen instance; null if none is chosen. */
  server: OdooServer | null;
  /** Labels by technical name. Empty until the server has answered. */
  models: Readonly<Record<string, string>>;
  /** Returns the fields of a model; none if it does not exist, is a pattern, or the server does not answer. */
  findFields: (model: string) => Promise<FieldTable>;
  isLoading: boolean;
  error: Error | null;
}

export function useLiveNames(instance: string | null): LiveNames {
  const queryClient = useQueryClient();
  const server = useMemo(
    () => (instance === null ? null : { instance: { name: instance }, identity: `instance ${instance}` }),
    [instance],
  );
  const { data, error, isFetching } = useQuery(readAllModels(server));
  const models = useMemo(
    () =>
      server === null || data === undefined
        ? NO_MODELS
        : Object.fromEntries(data.map(({ model, name }) => [model, name])),
    [server, data],
  );
  const findFields = useCallback(
    async (model: string): Promise<FieldTable> => {
      if (server === null || isPattern(model)) return {};
      try {
        return await queryClient.fetchQuery(readFields(server, model));
      } catch {
        // Without fields, completion offers nothing. The page shows beside the server's name why it does not answer.
        return {};
      }
    },
    [queryClient, server],
  );
  return { server, models, findFields, isLoading: isFetching, error };
}

export function isPattern(model: string): boolean {
  return model === '' || model.includes('*');
}
