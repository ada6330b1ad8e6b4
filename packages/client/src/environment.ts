/** Reads an environment variable, on runtimes that have them. */
export function readVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    // Deno throws without the permission.
    return undefined;
  }
}
