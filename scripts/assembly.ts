/** `npm run assembly`: compiles packages/server/assembly, and writes the code that the server loads. */
import { writeFileSync } from 'node:fs';
import { CODE_FILE, compileAssembly } from './compile-assembly.ts';

writeFileSync(CODE_FILE, await compileAssembly());
