/** Tests agents with the token of a person on an instance for persons. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { callTool, connectClient } from '../mcp/stage.ts';
import { PUBLIC_URL, startStage } from './stage.ts';

test.each(['modern', 'legacy'] as const)(
  'an agent gets the page to connect on as a sentence, and works as the person after that (%s)',
  async (mode) => {
    const { proxy, sandbox, token, connect } = await startStage();
    const transport = new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token('ada')}` } },
    });
    const client = await connectClient(transport, { mode });
    const search = () =>
      callTool(client, 'search_records', { model: 'res.partner', instance: 'prod', fields: ['name'] });
    const refused = await search();
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining(`${PUBLIC_URL}/connect/prod`),
    });
    expect(refused.text).toContain('Give the user this address');
    await connect('ada', sandbox.users.demo);
    const users = new Set<number>();
    sandbox.beforeCall(({ userId }) => void users.add(userId));
    expect((await search()).isError).toBe(false);
    expect([...users]).toEqual([sandbox.users.demo.userId]);
  },
);
