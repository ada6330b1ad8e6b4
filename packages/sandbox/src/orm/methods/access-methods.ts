/** Methods that return which operations the user may perform. */
import { checkAccess, filterByRule, mayAccess } from '../access.ts';
import { valueError } from '../fault.ts';
import type { Call, Method, Operation } from '../model.ts';
import { listIds } from './record-methods.ts';

const owner = 'BaseModel';

export const accessMethods: Readonly<Record<string, Method>> = {
  has_access: {
    owner,
    kind: 'record',
    parameters: 'operation',
    run: (call) => {
      const ids = listIds(call);
      const { environment, model } = call;
      return (
        mayAccess(environment, model, readOperation(call)) &&
        filterByRule(environment, model, ids).length === ids.length
      );
    },
  },
  check_access: {
    owner,
    kind: 'record',
    parameters: 'operation',
    run: checkRecords,
  },
  check_access_rights: {
    owner,
    kind: 'model',
    parameters: 'operation, raise_exception=True',
    run: (call) => {
      const operation = readOperation(call);
      if (call.values['raise_exception']) checkAccess(call.environment, call.model, operation);
      return mayAccess(call.environment, call.model, operation);
    },
  },
  check_access_rule: {
    owner,
    kind: 'record',
    parameters: 'operation',
    run: checkRecords,
  },
  user_has_groups: {
    owner,
    kind: 'model',
    parameters: 'groups',
    run: ({ environment, values }) =>
      String(values['groups'])
        .split(',')
        .some((group) => environment.hasGroup(group.trim())),
  },
};

function checkRecords(call: Call): undefined {
  checkAccess(call.environment, call.model, readOperation(call), listIds(call));
}

function readOperation(call: Call): Operation {
  const operation = call.values['operation'];
  if (['read', 'write', 'create', 'unlink'].includes(String(operation))) return operation as Operation;
  throw valueError(`Invalid operation: '${String(operation)}'`);
}
