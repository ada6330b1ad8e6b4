/** Stub. */
import type { Method } from "../model.ts";
export const webMethods: Readonly<Record<string, Method>> = {};
