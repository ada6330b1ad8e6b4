// The entry of the SQLite thread, apart from what it does. A thread turns on the compile cache for itself, before its imports;
// and since this file is plain JavaScript, it starts without the stripper of types when all else is in the cache.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./service.ts');
