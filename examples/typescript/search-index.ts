/**
 * Keeps a full-text index of contacts in step with Odoo, in a SQLite file:
 *
 *     node search-index.ts update contacts.db
 *     node search-index.ts search contacts.db azure
 *     node search-index.ts prune contacts.db
 *
 * `update` is for every minute: it reads what has changed since its last run, the first time all contacts. `prune` is
 * for every night: Odoo keeps no trace of deleted records, so that it compares ids.
 *
 * ERP_PROXY_URL, ERP_PROXY_KEY and ERP_PROXY_INSTANCE name the proxy, the client key and the stored instance.
 */
import { DatabaseSync } from 'node:sqlite';
import { createClient, isErpProxyError } from '@erp-proxy/client';

const partners = openClient().model('res.partner');
const [action, file = 'contacts.db', ...words] = process.argv.slice(2);
const index = new DatabaseSync(file);
index.exec(`
  CREATE VIRTUAL TABLE IF NOT EXISTS contacts USING fts5(name, email, city);
  CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
`);

function openClient() {
  try {
    return createClient();
  } catch (error) {
    console.error(isErpProxyError(error) ? error.message : error);
    return process.exit(1);
  }
}

async function update(): Promise<void> {
  const stored = index.prepare('SELECT cursor FROM progress').get() as { cursor: string } | undefined;
  const insert = index.prepare('INSERT INTO contacts (rowid, name, email, city) VALUES (?, ?, ?, ?)');
  const remove = index.prepare('DELETE FROM contacts WHERE rowid = ?');
  const store = index.prepare('INSERT OR REPLACE INTO progress VALUES (1, ?)');
  const pages = partners.changes([['type', '=', 'contact']], {
    fields: ['name', 'email', 'city', 'active'],
    since: stored?.cursor ?? null,
  });
  let count = 0;
  for await (const { changes, cursor } of pages) {
    // The cursor is stored in the transaction of its changes: after a crash, both are stored, or the changes are read
    // again.
    index.exec('BEGIN');
    for (const { id, record } of changes) {
      remove.run(id);
      if (record?.active) insert.run(id, record.name || '', record.email || '', record.city || '');
    }
    store.run(cursor);
    index.exec('COMMIT');
    count += changes.length;
  }
  console.log(`${count} changes`);
}

function search(text: string): void {
  const found = index.prepare(
    'SELECT rowid AS id, name FROM contacts WHERE contacts MATCH ? ORDER BY rank LIMIT 10',
  );
  for (const { id, name } of found.all(`"${text.replaceAll('"', '""')}"`)) console.log(`${id}  ${name}`);
}

async function prune(): Promise<void> {
  const known = index.prepare('SELECT rowid AS id FROM contacts').all() as { id: number }[];
  let count = 0;
  for (let at = 0; at < known.length; at += 1000) {
    const ids = known.slice(at, at + 1000).map(({ id }) => id);
    const existing = new Set(
      await partners.search([['id', 'in', ids]], {}, { context: { active_test: false } }),
    );
    for (const id of ids.filter((one) => !existing.has(one))) {
      index.prepare('DELETE FROM contacts WHERE rowid = ?').run(id);
      count++;
    }
  }
  console.log(`${count} removed`);
}

try {
  if (action === 'update') await update();
  else if (action === 'search') search(words.join(' '));
  else if (action === 'prune') await prune();
  else {
    console.error('usage: search-index.ts update <file> | search <file> <words> | prune <file>');
    process.exitCode = 1;
  }
} catch (error) {
  console.error(isErpProxyError(error) ? `${error.type}: ${error.message}` : error);
  process.exitCode = 1;
}
