/**
 * The pages of a sign-in: how a person signs in, and whether they let an application act as them. Without scripts, and
 * without anything from other servers. Knows no request.
 */
import { escapeHtml } from '@erp-proxy/text';
import type { BrowserAnswer } from './terms.ts';

/** The application that asks. */
export interface AskingApplication {
  readonly name: string;
  /** Address that describes it; null: it has registered itself, and nobody has checked its name. */
  readonly documentUrl: string | null;
  /** Origin or scheme to which its code goes. */
  readonly address: string;
  /** True if that is a program on the machine of the browser. */
  readonly isOnThisMachine: boolean;
}

export interface Choice {
  readonly providers: readonly string[];
  readonly odoo: readonly string[];
  /** Address of the page. */
  readonly action: string;
  readonly application: AskingApplication;
  /** Why the last step has failed; null: it has not. */
  readonly problem: string | null;
  /** What was entered. */
  readonly given: { readonly instance?: string | undefined; readonly login?: string | undefined };
}

export interface ConsentQuestion {
  readonly action: string;
  readonly application: AskingApplication;
  readonly person: { readonly id: string; readonly name: string };
  readonly scopes: readonly string[];
  /** Until when it may act. */
  readonly until: string;
  /** Proves that the answer is one to this page. */
  readonly proof: string;
  /** Address of the page on which the person withdraws at any time; null: there is none. */
  readonly ownPage: string | null;
  /** What the person has allowed before. */
  readonly allowed: readonly AllowedBefore[];
}

export interface AllowedBefore {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly until: string;
}

/** Asks how the person signs in. */
export function showChoice(choice: Choice): BrowserAnswer {
  const { providers, odoo, action, application, problem, given } = choice;
  const links = providers.map(
    (name) =>
      `<p><a class="button" href="${escapeHtml(`${action}/start`)}">Sign in with ${escapeHtml(name)}</a></p>`,
  );
  const [only, ...others] = odoo;
  const instance =
    others.length === 0
      ? `<input type="hidden" name="instance" value="${escapeHtml(only ?? '')}">`
      : `<label for="instance">Odoo</label><select id="instance" name="instance">${odoo
          .map((name) => `<option${name === given.instance ? ' selected' : ''}>${escapeHtml(name)}</option>`)
          .join('')}</select>`;
  const form = `
  <form method="post" action="${escapeHtml(action)}">
    ${links.length > 0 ? '<h2>Or with your login of Odoo</h2>' : ''}
    ${instance}
    <label for="login">Login</label>
    <input id="login" name="login" autocomplete="username" required maxlength="256" value="${escapeHtml(given.login ?? '')}">
    <label for="key">API key</label>
    <input id="key" name="api_key" type="password" autocomplete="off" required maxlength="64" aria-describedby="key-help">
    <p id="key-help" class="note">In Odoo, open your preferences, the tab Account Security, and choose New API Key. Your password does not work here.</p>
    <button class="button">Sign in</button>
  </form>`;
  return printPage({
    status: problem === null ? 200 : 403,
    title: 'Sign in',
    formTargets: [],
    main: `
  <h1>Sign in</h1>
  ${printProblem(problem)}
  <p><strong>${escapeHtml(application.name)}</strong> asks to work in Odoo as you. Sign in first; then you decide.</p>
  ${links.join('')}
  ${odoo.length > 0 ? form : ''}`,
  });
}

const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  mcp: 'Use the tools for assistants: find, read and change what you may in Odoo',
  erp: 'Make any call to Odoo that you may make',
};

/** Asks whether the application may act as the person. */
export function showConsent(question: ConsentQuestion): BrowserAnswer {
  const { action, application, person, scopes, until, proof, ownPage, allowed } = question;
  const { name, documentUrl, address, isOnThisMachine } = application;
  const where = isOnThisMachine
    ? `It is a program on this computer (<code>${escapeHtml(address)}</code>). Continue only if you have just started it yourself.`
    : `Its answer goes to <strong>${escapeHtml(address)}</strong>. Continue only if you know this address.`;
  const whose =
    documentUrl === null
      ? 'Its name is what it says of itself.'
      : `It is described at <code>${escapeHtml(documentUrl)}</code>.`;
  const withdraw =
    ownPage === null
      ? 'You can end it earlier when you sign in for an application again.'
      : `You can end it earlier at <a href="${escapeHtml(ownPage)}">${escapeHtml(ownPage)}</a>.`;
  return printPage({
    status: 200,
    title: `Allow ${name}?`,
    formTargets: [address],
    main: `
  <h1>Allow “${escapeHtml(name)}” to act as you?</h1>
  <p>You are signed in as <strong>${escapeHtml(person.name)}</strong> <span class="note">(${escapeHtml(person.id)})</span>.</p>
  <p>The application asks to:</p>
  <ul>${scopes.map((scope) => `<li>${escapeHtml(SCOPE_TEXTS[scope] ?? scope)}</li>`).join('')}</ul>
  <p class="problem caution">${where} ${whose}</p>
  <p>It may do so until ${escapeHtml(until)}. ${withdraw}</p>
  <form method="post" action="${escapeHtml(action)}">
    <input type="hidden" name="proof" value="${escapeHtml(proof)}">
    <button class="button" name="answer" value="allow">Allow</button>
    <button class="button plain" name="answer" value="refuse">Refuse</button>
    ${printAllowed(allowed)}
  </form>`,
  });
}

function printAllowed(allowed: readonly AllowedBefore[]): string {
  if (allowed.length === 0) return '';
  const items = allowed.map(
    ({ id, name, address, until }) =>
      `<li>${escapeHtml(name)} (${escapeHtml(address)}), until ${escapeHtml(until)} <button class="small" name="withdraw" value="${escapeHtml(id)}" aria-label="Withdraw ${escapeHtml(name)}">Withdraw</button></li>`,
  );
  return `<h2>You have allowed before</h2><ul>${items.join('')}</ul>`;
}

/** Says why a sign-in cannot go on. */
export function showFault(status: number, text: string): BrowserAnswer {
  return printPage({
    status,
    title: 'Sign-in not possible',
    formTargets: [],
    main: `
  <h1>Sign-in not possible</h1>
  <p role="alert">${escapeHtml(text)}</p>
  <p>Go back to the application, and begin again there.</p>`,
  });
}

function printProblem(problem: string | null): string {
  return problem === null ? '' : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`;
}

interface Page {
  status: number;
  title: string;
  /** Origins or schemes to which a form leads in the end: browsers check each redirect. */
  formTargets: readonly string[];
  main: string;
}

function printPage({ status, title, formTargets, main }: Page): BrowserAnswer {
  const targets = formTargets.filter((target) => /^[a-z][a-z\d+.-]*:(\/\/[\w.:[\]-]+)?$/i.test(target));
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${["'self'", ...targets].join(' ')}; frame-ancestors 'none'`,
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} - erp-proxy</title>
<style>
  :root { color-scheme: light dark; }
  * { box-sizing: border-box; }
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 8vh auto; max-width: 34rem; overflow-wrap: anywhere; padding: 0 1rem; }
  h1 { font-size: 1.6rem; line-height: 1.25; }
  h2 { font-size: 1.1rem; margin-top: 2rem; }
  label { display: block; font-weight: 600; margin-top: 1rem; }
  input:not([type=hidden]), select { border: 1px solid #6b7280; border-radius: 0.4rem; font: inherit; padding: 0.5rem; width: 100%; }
  .button { background: #1d4ed8; border: 1px solid #1d4ed8; border-radius: 0.4rem; color: #fff; cursor: pointer; display: inline-block; font: inherit; margin: 1rem 0.5rem 0 0; padding: 0.6rem 1.2rem; text-decoration: none; }
  .small { background: transparent; border: 1px solid currentcolor; border-radius: 0.4rem; color: inherit; cursor: pointer; font: inherit; font-size: 0.9rem; min-height: 1.75rem; padding: 0.1rem 0.5rem; }
  .plain { background: transparent; border-color: currentcolor; color: inherit; }
  button:focus-visible, .button:focus-visible, a:focus-visible, input:focus-visible, select:focus-visible { outline: 3px solid #f59e0b; outline-offset: 2px; }
  .note { font-size: 0.9rem; opacity: 0.85; }
  .problem { border-left: 4px solid #dc2626; padding-left: 0.75rem; }
  .caution { border-color: #d97706; }
</style>
<main>${main}
</main>
</html>
`,
  };
}
