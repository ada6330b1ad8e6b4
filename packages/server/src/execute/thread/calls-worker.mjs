// Entry of the thread for large calls. A thread must enable the compile cache for itself, before its imports. This file is
// plain JavaScript, so it loads without type stripping when everything else is in the cache.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./service.ts');
