// Entry of the thread that reads one document. A thread must enable the compile cache for itself, before its imports.
// bin/erp-proxy.mjs chooses its folder. This file is plain JavaScript, so it loads without type stripping when
// everything else is in the cache.
import { enableCompileCache } from 'node:module';

// biome-ignore lint/style/noProcessEnv: a variable of Node, not a setting.
if (process.env['NODE_COMPILE_CACHE'] !== undefined) enableCompileCache();
await import('./service.ts');
