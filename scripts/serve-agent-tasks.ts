/** Serves the commands of `npm run try-agent`: the tasks, tools of a proxy in front of a sandbox, and the report. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Proxy as ErpProxy, startProxy } from '../packages/server/test/harness.ts';

export interface TaskOptions {
  port: number;
  /** The version that the sandbox simulates. */
  version: NonNullable<NonNullable<Parameters<typeof startSandbox>[0]>['version']>;
  /** A list of texts as JSON; null: the office tasks of the tests. */
  tasksFile: string | null;
  /** Gets all calls and answers as JSON. */
  reportFile: string;
}

interface Call {
  tool: string;
  arguments: unknown;
  isError: boolean;
  text: string;
}

interface Task {
  task: string;
  calls: Call[];
  answer: string | null;
}

const OFFICE_TASKS = new URL('../packages/server/test/data/office-tasks.json', import.meta.url);

export async function serveTasks({ port, version, tasksFile, reportFile }: TaskOptions): Promise<void> {
  const { setup, tasks: officeTasks } = JSON.parse(readFileSync(OFFICE_TASKS, 'utf8'));
  const tasks: string[] =
    tasksFile === null
      ? officeTasks.map(({ task }: { task: string }) => task)
      : JSON.parse(readFileSync(tasksFile, 'utf8'));
  const sandbox = await startSandbox({ version });
  const proxy = await startProxy({
    settings: {
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
      'upstream.protocol': 'auto',
    },
  });
  await storeInstance(proxy, sandbox);
  const questions: string[] = [];
  const client = await connect(proxy, questions);
  const report: Task[] = [];

  /** Each task begins with the same records. */
  async function begin(task: string): Promise<void> {
    sandbox.reset();
    const calls = setup.map(([model, values]: [string, object]) => ({
      action: 'create',
      model_id: model,
      params: [values],
      erp_instance: { name: 'prod' },
    }));
    await proxy.call(calls);
    report.push({ task, calls: [], answer: null });
  }

  const commands: Record<string, (words: string[]) => Promise<string> | string> = {
    async tools() {
      const { tools } = await client.listTools();
      return `${client.getInstructions() ?? ''}\n\n${JSON.stringify(tools, null, 1)}`;
    },
    task: () => `Task ${report.length} of ${tasks.length}: ${report.at(-1)?.task}`,
    async call([tool = '', json = '{}']) {
      const args = JSON.parse(json);
      const result = await client.callTool({ name: tool, arguments: args });
      const [first] = result.content as { text: string }[];
      const call = { tool, arguments: args, isError: result.isError === true, text: first?.text ?? '' };
      report.at(-1)?.calls.push(call);
      const asked = questions.splice(0).map((question) => `The user was asked: ${question} Answer: yes.\n`);
      return `${asked.join('')}${call.isError ? 'isError: ' : ''}${call.text}`;
    },
    async done([answer = '']) {
      const current = report.at(-1);
      if (current !== undefined) current.answer = answer;
      writeFileSync(reportFile, JSON.stringify(report, null, 1));
      const next = tasks[report.length];
      if (next === undefined) {
        console.log(summarize(report));
        setTimeout(() => process.exit(), 200);
        return 'That was the last task.';
      }
      await begin(next);
      return `Task ${report.length} of ${tasks.length}: ${next}`;
    },
  };
  await begin(tasks[0] ?? '');
  createServer(async (request, response) => {
    try {
      const run = commands[request.url?.slice(1) ?? ''];
      response.end(
        run === undefined ? 'There is no such command.' : await run(JSON.parse(await text(request))),
      );
    } catch (error) {
      response.end(`Error: ${(error as Error).message}`);
    }
  }).listen(port, '127.0.0.1', () => console.log(`${tasks.length} tasks on port ${port}`));
}

async function storeInstance({ app }: ErpProxy, { url, db, users }: Sandbox): Promise<void> {
  const { userId: user_id, apiKey: api_key } = users.admin;
  await app.instances.add({ name: 'prod', url, db, user_id, api_key, allow_private: true });
}

/** A client whose person agrees to everything. `questions` gets what the person is asked. */
async function connect({ url, key }: ErpProxy, questions: string[]): Promise<Client> {
  const client = new Client(
    { name: 'try-agent', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params.message);
    return { action: 'accept', content: { confirm: true } } as never;
  });
  const requestInit = { headers: { 'x-proxy-api': key } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

function summarize(report: readonly Task[]): string {
  const calls = report.flatMap((task) => task.calls);
  const failed = report.filter((task) => task.calls.some(({ isError }) => isError));
  const bytes = calls.map(({ text }) => Buffer.byteLength(text)).sort((a, b) => a - b);
  return [
    `${report.length} tasks, ${calls.length} calls, ${failed.length} tasks with a failed call`,
    `answers: median ${bytes[bytes.length >> 1]} bytes, largest ${bytes.at(-1)} bytes`,
    ...failed.flatMap(({ task, calls }) => [
      `- ${task}`,
      ...calls
        .filter(({ isError }) => isError)
        .map(({ tool, text }) => `    ${tool}: ${text.split('\n')[0]}`),
    ]),
  ].join('\n');
}
