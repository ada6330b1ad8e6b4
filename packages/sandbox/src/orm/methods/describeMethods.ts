/** Stub. */
import type { Method } from "../model.ts";
export const describeMethods: Readonly<Record<string, Method>> = {};
