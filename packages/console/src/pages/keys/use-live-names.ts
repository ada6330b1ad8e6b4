/**
 * Models and fields of an instance that the person has chosen. Without one, no server is asked. The calls are made by
 * the administrator: the policy that is being written does not restrict them.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type { FieldTable } from '../../parts/odoo-fields.ts';
import { type OdooServer, readAllModels, readFields } from '../../parts/odoo-queries.ts';

const NO_MODELS: LiveNames['models'] = {};

export interface LiveNames {
  /** The chosen instance; null: none. */
  server: OdooServer | null;
  /** Labels by technical name. Empty until they have arrived. */
  models: Readonly<Record<string, string>>;
  /** Fields of a model; none if it does not exist, is a pattern, or the server does not answer. */
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
        // Completion then offers nothing. Why the server does not answer is shown beside its name.
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
