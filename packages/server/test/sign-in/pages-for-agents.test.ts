/** A person who must connect to Odoo first is shown the page by a client of MCP that can show pages. */
import {
  Client,
  StreamableHTTPClientTransport,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { callTool } from '../mcp/stage.ts';
import { PUBLIC_URL, startStage } from '../persons/stage.ts';

const PAGE = `${PUBLIC_URL}/connect/prod`;

async function connectAgent(mode: 'modern' | 'legacy', show: (url: string) => Promise<'accept' | 'decline'>) {
  const stage = await startStage();
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: { elicitation: { url: {} } },
      versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => ({
    action: await show('url' in params ? params.url : 'no page'),
  }));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${stage.proxy.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${stage.token('ada')}` } },
    }),
  );
  closeAfterTest(client);
  const search = () => callTool(client, 'search_records', { model: 'res.partner', fields: ['name'] });
  return { stage, search };
}

test('of 2026: the page is shown, and the call goes on', async () => {
  const shown: string[] = [];
  const { stage, search } = await connectAgent('modern', async (url) => {
    shown.push(url);
    await stage.connect('ada', stage.sandbox.users.demo);
    return 'accept';
  });
  expect(await search()).toMatchObject({ isError: false });
  expect(shown).toEqual([PAGE]);
});

test.each(['accept', 'decline'] as const)(
  'of 2026: who does not connect (%s) gets the sentence, and is not asked again by the same call',
  async (action) => {
    const shown: string[] = [];
    const { search } = await connectAgent('modern', async (url) => {
      shown.push(url);
      return action;
    });
    expect(await search()).toMatchObject({ isError: true, text: expect.stringContaining(PAGE) });
    expect(shown).toEqual([PAGE]);
  },
);

test('of 2025: the error names the page', async () => {
  const { stage, search } = await connectAgent('legacy', async () => 'decline');
  const error = await search().catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(UrlElicitationRequiredError);
  expect((error as UrlElicitationRequiredError).elicitations).toEqual([
    {
      mode: 'url',
      elicitationId: expect.any(String),
      url: PAGE,
      message: expect.stringContaining('Connect'),
    },
  ]);
  await stage.connect('ada', stage.sandbox.users.demo);
  expect(await search()).toMatchObject({ isError: false });
});
