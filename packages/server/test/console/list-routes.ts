/** The paths of the console's pages, as its routes name them: `/keys/$id`. */
import { findFiles, readText } from '../architecture/repository-files.ts';

export function listConsoleRoutes(): string[] {
  const files = findFiles('packages/console/src/{app,pages}/**/{route.ts,*-route.tsx}');
  return files.flatMap((file) =>
    [...readText(file).matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path]) => path!),
  );
}
