/** Builds the console into dist/, with compressed copies beside each file, so that the server need not compress. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const dist = fileURLToPath(new URL('dist', import.meta.url));
/** The proxy that `npm run dev` calls. */
const PROXY = 'http://127.0.0.1:8787';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), compressFiles()],
  build: {
    outDir: dist,
    emptyOutDir: true,
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    // What the console contains, with the texts of its licenses. scripts/pack/sbom.ts reads this file.
    license: { fileName: 'licenses.json' },
  },
  experimental: {
    // Relative addresses in scripts and styles, because they do not know the path that a reverse proxy may add. For the
    // page itself, the server adds it.
    renderBuiltUrl: (_name, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  server: { proxy: { '/admin': PROXY, '/api': PROXY, '/openapi.json': PROXY, '/docs': PROXY } },
});

function compressFiles(): Plugin {
  return {
    name: 'compress-files',
    apply: 'build',
    closeBundle() {
      for (const entry of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
        const path = join(dist, entry);
        if (!statSync(path).isFile() || !/\.(js|css|html|svg)$/.test(path)) continue;
        const content = readFileSync(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
