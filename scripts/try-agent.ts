/**
 * Gives tasks of an office to a language model that has nothing but the tools, and records what it does with them. The
 * model runs commands in a shell:
 *
 * - `npm run -s try-agent -- tools` prints the instructions of the server, and its tools.
 * - `npm run -s try-agent -- task` prints the current task.
 * - `npm run -s try-agent -- call TOOL JSON` calls a tool.
 * - `npm run -s try-agent -- done ANSWER` ends the task, and prints the next one.
 *
 * `npm run try-agent -- serve [REPORT]` must run meanwhile. It starts a sandbox and a proxy, and ends after the last
 * task. REPORT gets all calls and answers as JSON. Environment: TASKS, a file with a list of texts; ODOO, the version
 * of the sandbox (18); PORT (8299).
 */
import type { TaskOptions } from './serve-agent-tasks.ts';

const { PORT = '8299', ODOO = '18', TASKS } = process.env;
const [command = 'task', ...words] = process.argv.slice(2);

if (command === 'serve') await serve();
else await send();

async function serve(): Promise<void> {
  const options: TaskOptions = {
    port: Number(PORT),
    version: Number(ODOO) as TaskOptions['version'],
    tasksFile: TASKS ?? null,
    reportFile: words[0] ?? 'agent-report.json',
  };
  // Loaded only here: the other commands do not need it, and the model waits for them.
  const { serveTasks } = await import('./serve-agent-tasks.ts');
  await serveTasks(options);
}

async function send(): Promise<void> {
  const body = JSON.stringify(words);
  const response = await fetch(`http://127.0.0.1:${PORT}/${command}`, { method: 'POST', body });
  console.log(await response.text());
}
