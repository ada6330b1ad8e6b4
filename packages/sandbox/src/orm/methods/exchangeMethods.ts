/** Stub. */
import type { Method } from "../model.ts";
export const exchangeMethods: Readonly<Record<string, Method>> = {};
