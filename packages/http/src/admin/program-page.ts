/**
 * The page that asks a person whether a program on their machine may act as them. Without this question, whoever
 * listens at a port of the machine could get a session by a link, while the provider signs the person in without
 * asking.
 */
import { escapeHtml } from '@erp-proxy/text';
import type { FastifyReply } from 'fastify';
import type { Authenticated } from './login.ts';

/** `address` leads to the program, with the code for the session. */
export function showProgramPage(
  { name, role }: Pick<Authenticated, 'name' | 'role'>,
  address: string,
  reply: FastifyReply,
): void {
  const link = escapeHtml(address);
  reply.headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  void reply.code(200).send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in on the command line - erp-proxy</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 12vh auto; max-width: 34rem; padding: 0 1rem; }
  a.button { background: #1d4ed8; border-radius: 0.4rem; color: #fff; display: inline-block; padding: 0.6rem 1.2rem; text-decoration: none; }
  a.button:focus-visible { outline: 3px solid #f59e0b; outline-offset: 2px; }
  code { overflow-wrap: anywhere; }
</style>
<main>
  <h1>Sign in on the command line?</h1>
  <p>A program on this machine asks to act as <strong>${escapeHtml(name)}</strong> with the role <strong>${role}</strong>, for eight hours at most.</p>
  <p>Continue only if you have just run <code>erp-proxy login</code>. Otherwise close this page.</p>
  <p><a class="button" href="${link}">Continue</a></p>
  <p>If the program runs on another machine, paste this address into its terminal instead:<br><code>${link}</code></p>
</main>
</html>
`);
}
