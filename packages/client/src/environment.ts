/** Environment variables, on runtimes that have them. */
export function readVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    // Deno without the permission.
    return undefined;
  }
}
