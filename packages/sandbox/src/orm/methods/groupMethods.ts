/** Stub. */
import type { Method } from "../model.ts";
export const groupMethods: Readonly<Record<string, Method>> = {};
