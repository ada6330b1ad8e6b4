/** The methods that every model has, in the signatures of 18; a version's personality changes what differs. */
import type { Method } from '../model.ts';
import { accessMethods } from './accessMethods.ts';
import { describeMethods } from './describeMethods.ts';
import { exchangeMethods } from './exchangeMethods.ts';
import { groupMethods } from './groupMethods.ts';
import { queryMethods } from './queryMethods.ts';
import { recordMethods } from './recordMethods.ts';
import { webMethods } from './webMethods.ts';

export const baseMethods: Readonly<Record<string, Method>> = {
  ...queryMethods,
  ...recordMethods,
  ...accessMethods,
  ...describeMethods,
  ...exchangeMethods,
  ...groupMethods,
  ...webMethods,
};
