/**
 * The methods of every model, with the signatures of 18. The definition of a version changes the methods that differ.
 */
import type { Method } from '../model.ts';
import { accessMethods } from './access-methods.ts';
import { describeMethods } from './describe-methods.ts';
import { exchangeMethods } from './exchange-methods.ts';
import { groupMethods } from './group-methods.ts';
import { panelMethods } from './panel-methods.ts';
import { queryMethods } from './query-methods.ts';
import { recordMethods } from './record-methods.ts';
import { webMethods } from './web-methods.ts';

export const baseMethods: Readonly<Record<string, Method>> = {
  ...queryMethods,
  ...recordMethods,
  ...accessMethods,
  ...describeMethods,
  ...exchangeMethods,
  ...groupMethods,
  ...webMethods,
  ...panelMethods,
};
