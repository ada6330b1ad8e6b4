/** The example of docs/approvals.md, run as it is written: only ids, times, keys and the address are replaced. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { makeFolder, runProgram, startServer } from '../process/program.ts';
import { answerTrue, startUpstream } from '../scripted-upstream.ts';

const PAGE = readFileSync(new URL('../../../../docs/approvals.md', import.meta.url), 'utf8');
/** The id of the approval in docs/approvals.md. */
const ID = '6f1c0a9be2d84f7713a5c0de';

test('the page leads from the call to its run, and to a refusal', async () => {
  const upstream = closeAfterTest(await startUpstream(answerTrue));
  const folder = makeFolder();
  const settings = [
    `--store.url=sqlite:${folder}/store.db`,
    `--vault.masterKey=${Buffer.alloc(32, 1).toString('base64')}`,
    `--egress.allow=${upstream.url}`,
    '--upstream.protocol=jsonrpc',
  ];
  const server = await startServer(settings, { folder });
  const run = async (words: readonly string[], input = '') => {
    const ended = await runProgram([...words, ...settings], { folder, input });
    expect(ended.status, ended.stderr).toBe(0);
    return ended.stdout;
  };
  const add = ['instances', 'add', 'prod', `--erp-url=${upstream.url}`, '--db=prod', '--user-id=2'];
  await run([...add, '--api-key-file=-'], 'odoo-key');

  let key = '';
  let id = ID;
  const answers: string[] = [];
  const printed: Record<string, string> = {};
  const [policy, refused, ran] = listBlocks('json');
  for (const block of listBlocks('sh')) {
    if (block.startsWith('curl ')) {
      answers.push(await callAs(splitWords(block)));
      id = (/"approval":"(\w+)"/.exec(answers.at(-1) ?? '')?.[1] as string | undefined) ?? id;
      continue;
    }
    for (const line of block.trim().split('\n')) {
      // The approval is already decided, so another one is asked for and refused.
      if (line.includes(' refuse ')) id = await askAgain();
      const [, ...words] = splitWords(line.replaceAll(ID, id));
      printed[words.slice(0, 2).join(' ')] = await run(words);
      if (words[1] === 'create') key = (printed['keys create'] ?? '').trim();
    }
  }

  async function callAs(words: readonly string[]): Promise<string> {
    const given = words.filter((_, index) => words[index - 1] === '-H').map((header) => header.split(': '));
    const headers = Object.fromEntries(given.map(([name, value]) => [name, value === 'ep_…' ? key : value]));
    if ('x-approval' in headers) headers['x-approval'] = id;
    const body = words[words.indexOf('-d') + 1] as string;
    const answer = await fetch(`${server.url}/api/erp/execute`, { method: 'POST', headers, body });
    return await answer.text();
  }

  async function askAgain(): Promise<string> {
    const [, first] = listBlocks('sh');
    const answer = await callAs(splitWords(first ?? ''));
    return JSON.parse(answer).error.data.approval;
  }

  const normal = (text: string) =>
    text.replaceAll(/[0-9a-f]{24}/g, ID).replace(/until \d.*?(?=")/, 'until …');
  expect(JSON.parse(policy ?? '')).toHaveProperty('approve');
  const expected = [refused, ran].map((text) => JSON.parse(normal(text ?? '')));
  expect(answers.map((text) => JSON.parse(normal(text)))).toEqual(expected);
  expect(printed['approvals list']).toMatch(/account\.move\.unlink/);
  expect(printed['approvals show']).toMatch(/^params +\[\[7\]\]$/m);
  expect(printed['approvals approve']).toMatch(/^Approved: account\.move\.unlink can be sent once until /);
  expect(printed['approvals refuse']).toMatch(/^Refused: account\.move\.unlink is not run\./);
  // Other requests read the names of records for the administrator.
  expect(upstream.requests.filter(({ body }) => body.includes('unlink'))).toHaveLength(1);

  function listBlocks(language: string): string[] {
    const blocks = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))];
    const texts = blocks.map(([, text]) => text as string);
    // The page shows the policy as the contents of this file.
    if (language === 'json') writeFileSync(join(folder, 'agent.json'), texts[0] ?? '');
    return texts;
  }
});

/** Splits a command of the page into words as a shell does. */
function splitWords(line: string): string[] {
  const words = line.replaceAll('\\\n', ' ').match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}
