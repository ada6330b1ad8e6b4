/** The scripts that read tables of models from a checkout of Odoo, on a small invented checkout. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasCommand } from '../../server/test/examples/shop.ts';
import { makeFolder } from '../../server/test/process/program.ts';

const folder = fileURLToPath(new URL('../../../scripts/odoo-tables/', import.meta.url));

interface Model {
  modules: string[];
  kind: string;
  inherit?: string[];
  inherits?: Record<string, string>;
  methods?: Record<string, { parameters: string[]; model?: true; reasons?: Record<string, string[]> }>;
  fields?: Record<string, Record<string, unknown>>;
  context?: Record<string, Record<string, Record<string, unknown>>>;
}

describe.skipIf(!hasCommand('python3'))('tables of Odoo (skipped where python3 is not installed)', () => {
  let output: string;
  let models: Record<string, Model>;
  beforeAll(() => {
    const args = ['-B', `${folder}read_odoo.py`, '--version', '18', `${folder}fixture`];
    output = execFileSync('python3', args, { encoding: 'utf8' });
    ({ models } = JSON.parse(output) as { models: Record<string, Model> });
  });

  test('have one model a line, of modules under LGPL-3 that are no tests', () => {
    expect(Object.keys(models)).toEqual([
      'library.book',
      'library.branch',
      'library.card',
      'library.contact',
      'library.desk',
      'library.desk.removal',
      'library.guest',
      'library.home',
      'library.label',
      'library.lending',
      'library.loan',
      'library.log',
      'library.member',
      'library.named',
      'library.overview',
      'library.pile',
      'library.queue',
      'library.quiet.task',
      'library.rack',
      'library.reader',
      'library.related.task',
      'library.reservation',
      'library.shelf',
      'library.sorted',
      'library.sorted.volume',
      'library.stamp',
      'library.task',
      'library.team',
      'library.volume',
      'mail.thread',
      'res.groups',
    ]);
    expect(output.split('\n').filter((line) => line.startsWith('"library.'))).toHaveLength(29);
  });

  test('have what models extend, inherit and delegate to', () => {
    expect(models['library.reader']).toMatchObject({
      modules: ['base', 'library'],
      kind: 'stored',
      inherits: { 'library.contact': 'contact_id' },
    });
    expect(models['library.book']).toMatchObject({
      inherit: ['library.named'],
      inherits: { 'library.edition': 'edition_id' },
    });
    expect([models['library.named']?.kind, models['library.lending']?.kind]).toEqual([
      'abstract',
      'transient',
    ]);
  });

  test('have the methods that Odoo lets callers use', () => {
    expect(Object.keys(models['library.reader']?.methods ?? {})).toEqual(['rename']);
    expect(models['library.book']?.methods?.['find_passed']).toMatchObject({
      model: true,
      parameters: ['kind', 'title'],
    });
  });

  test('have the reasons why a method reaches more than its records', () => {
    const reasons = Object.entries(models['library.book']?.methods ?? {}).map(
      ([name, method]) => [name, method.reasons ?? {}] as const,
    );
    expect(Object.fromEntries(reasons)).toEqual({
      call_named: { method: ['action'] },
      compute_price: { code: ['expression'] },
      count_quoted: {},
      count_rows: { sql: ['table'] },
      find_direct: { model: ['records'] },
      find_passed: { model: ['kind'] },
      lend: { values_elsewhere: ['values'] },
      lend_named: {},
      list_loans: { domain_elsewhere: ['domain'] },
      list_named_loans: {},
      open_active: { model: ['context.active_model'] },
      open_page: { sudo: ['page_id'] },
      open_reference: { ref: ['reference'] },
      remind: { sender: ['email_from'] },
      render_cover: { render: ['template'] },
    });
  });

  test('have what the answer of a method shows, and which records it changes', () => {
    const methods = Object.entries(models['library.desk']?.methods ?? {});
    expect(Object.fromEntries(methods.map(([name, { reasons = {} }]) => [name, reasons]))).toEqual({
      close_pile: { records_elsewhere: ['pile_ids'] },
      count_rows: { read_elsewhere: ['statement'] },
      fill_homes: { read_elsewhere: ['library.home.street'] },
      find_desks: { domain: ['domain'] },
      find_first: {},
      find_named: {},
      list_homes: { read_elsewhere: ['library.home.*'] },
      list_ids: {},
      promote: { guarded: ['res.groups.write'] },
      // Ids of records, and the name of one behind a many2one field.
      show_home: {},
      show_link: { credential: ['credential', 'library.desk.access_token'] },
      show_street: { read_elsewhere: ['library.home.street'] },
    });
    expect(models['library.desk.removal']?.methods).toMatchObject({
      remove: { reasons: { records_elsewhere: ['library.desk.unlink'] } },
      close: { parameters: [] },
    });
    expect(models['library.desk.removal']?.methods?.['close']).not.toHaveProperty('reasons');
  });

  test('have the context keys that write while records are read', () => {
    expect(models['library.reader']?.context).toEqual({
      renew_card: { _find_card: { writes: true, guards: ['sudo', 'writes'], paths: ['compute'] } },
    });
    expect(models['library.book']?.context?.['count_pages']).toEqual({
      '<pages.compute>': { paths: ['compute'] },
    });
  });

  test('have fields with what they depend on', () => {
    expect(models['library.reader']?.fields).toEqual({
      book_ids: { type: 'Many2many', comodel: 'library.book' },
      card: {
        type: 'Char',
        compute: '_compute_card',
        depends: ['contact_id.country', 'name'],
        inverse: '_inverse_card',
        store: false,
      },
      city: { type: 'Char', related: 'contact_id.address_id.city', store: false },
      contact_id: { type: 'Many2one', comodel: 'library.contact' },
      name: { type: 'Char', groups: 'base.group_user' },
      street: { type: 'Char', related: 'contact_id.street', readonly: false, store: false },
    });
    expect(models['library.book']?.fields?.['page_ids']).toEqual({
      type: 'One2many',
      comodel: 'library.page',
      inverse_name: 'book_id',
    });
  });

  test('has fields that hold credentials, by their names, their views and what they show, except those of the review', () => {
    const list = (...review: object[]) => {
      const file = join(makeFolder(), 'review.json');
      writeFileSync(file, JSON.stringify({ credential_fields: review }));
      const args = ['-B', `${folder}credential_fields.py`, '--review', file, `18=${folder}fixture`];
      const printed = execFileSync('python3', args, { encoding: 'utf8' });
      return printed.split('\n').filter((line) => line.startsWith('library.'));
    };
    expect(list()).toEqual([
      'library.branch door_code',
      'library.desk access_token',
      'library.guest code_of_branch secret',
      'library.member code_of_branch secret',
      'library.rack secret',
      'library.shelf kept secret',
      'library.volume shelf_secret',
    ]);
    const others = { fields: ['*'], models: ['library.[dgrsv]*'] };
    expect(list(others, { fields: ['door_*'] })).toEqual(['library.member secret']);
    expect(list(others, { fields: ['*secret'], models: ['library.member'] })).toEqual([
      'library.branch door_code',
      'library.member code_of_branch',
    ]);
  });

  test('and texts that are computed from them, or from a system parameter of such a name', () => {
    const root = makeFolder();
    const base = join(root, 'odoo', 'addons', 'base');
    mkdirSync(base, { recursive: true });
    writeFileSync(join(base, '__manifest__.py'), '{"license": "LGPL-3"}');
    const model = `
class Door(models.Model):
    _name = "door"

    open_key = fields.Char()
    name = fields.Char(compute="_compute_name")
    open_url = fields.Char(compute="_compute_open")
    is_open = fields.Boolean(compute="_compute_open")
    map_url = fields.Char(compute="_compute_map_url")
    home_url = fields.Char(compute="_compute_home_url")

    def _compute_map_url(self):
        for door in self:
            door.map_url = door._sign("/map")

    def _sign(self, address):
        return address + self.env["ir.config_parameter"].sudo().get_param("maps.api_key")

    def _compute_home_url(self):
        self.home_url = self.env["ir.config_parameter"].get_param("web.base.url")

    @api.depends("open_key")
    def _compute_open(self):
        for door in self:
            door.open_url = "/open/" + door.open_key
            door.is_open = bool(door.open_key)

    @api.depends("is_open")
    def _compute_name(self):
        for door in self:
            door.name = "open" if door.is_open else "closed"
`;
    writeFileSync(join(base, 'models.py'), model);
    const review = join(root, 'review.json');
    writeFileSync(review, '{"credential_fields": []}');
    const args = ['-B', `${folder}credential_fields.py`, '--review', review, `18=${root}`];
    expect(execFileSync('python3', args, { encoding: 'utf8' })).toContain(
      '`\ndoor map_url open_key open_url\n`',
    );
  });

  describe('the methods that `*` of a policy stands for', () => {
    interface Review {
      context: { key: string }[];
      known: { models: string[]; methods: string[] }[];
      left_out: { models: string[]; methods: string[] }[];
    }
    const NOTHING: Review = { context: [], known: [], left_out: [] };

    /** The line of each model. */
    function list(
      versions: string[],
      review: Partial<Review> = {},
      options: string[] = [],
    ): Record<string, string> {
      const place = makeFolder();
      const files = versions.map((text, index) => {
        const file = join(place, `${index}.json`);
        writeFileSync(file, text);
        return file;
      });
      const reviewFile = join(place, 'review.json');
      writeFileSync(reviewFile, JSON.stringify({ ...NOTHING, ...review }));
      const args = ['-B', `${folder}known_methods.py`, '--review', reviewFile, ...options, ...files];
      const printed = execFileSync('python3', args, { encoding: 'utf8' });
      const lines = printed.split('`\n')[1]?.split('\n`')[0]?.split('\n') ?? [];
      return Object.fromEntries(lines.map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]));
    }

    test('are those that no version has a reason to leave out', () => {
      const lines = list([output]);
      expect(lines['library.reader']).toBe('rename');
      expect(lines['library.book']).toBe(
        'count_quoted lend_named list_named_loans -code compute_price -domain_elsewhere list_loans -method call_named -model find_direct open_active -passed_on find_passed -ref open_reference -render render_cover -sender remind -sql count_rows -sudo open_page -values_elsewhere lend',
      );
      const later = output.replace(
        '"lend_named":{',
        '"lend_named":{"direct":["sudo"],"reasons":{"sudo":["name"]},',
      );
      expect(later).not.toBe(output);
      expect(list([output, later])['library.book']).toMatch(
        /^count_quoted list_named_loans .* -sudo lend_named open_page /,
      );
    });

    test('have the methods of mixins of many modules on every model', () => {
      const heirs = Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name) => [
          `${name}.model`,
          { kind: 'stored', inherit: ['x.mixin'], defined_by: [name] },
        ]),
      );
      const mixin = {
        'x.mixin': {
          kind: 'abstract',
          methods: { post: {}, send: { direct: ['model'], reasons: { model: ['name'] } } },
        },
      };
      const print = (models: object) => JSON.stringify({ version: '18', models });
      expect(list([print({ ...mixin, ...heirs })])).toEqual({ base: 'post -model send' });
      const { 'd.model': _, ...few } = heirs;
      expect(list([print({ ...mixin, ...few })])).not.toHaveProperty('base');
    });

    test('are not among those that a former output leaves out, and keep what only that output has', () => {
      const former = join(makeFolder(), 'former.ts');
      const lines = 'library.book count_quoted -sudo lend_named\nlibrary.gone read_all -ref show\n';
      writeFileSync(former, `/** Data. */\nexport const KNOWN_METHODS = \`\n${lines}\`;\n`);
      const found = list([output], {}, ['--former', former]);
      expect(found['library.book']).toMatch(/^count_quoted list_named_loans .* -sudo lend_named open_page /);
      expect(found['library.gone']).toBe('read_all -ref show');
      const known = [{ models: ['library.book'], methods: ['lend_named'] }];
      expect(list([output], { known }, ['--former', former])['library.book']).toMatch(
        /^count_quoted lend_named list_named_loans -/,
      );
    });

    test('follow the review in both directions, and its harmless keys of the context', () => {
      const lines = list([output], {
        context: [{ key: 'active_model' }],
        known: [{ models: ['library.book'], methods: ['lend'] }],
        left_out: [{ models: ['*'], methods: ['rename', 'count_quoted'] }],
      });
      expect(lines['library.reader']).toBe('-review rename');
      expect(lines['library.book']).toMatch(
        /^lend lend_named list_named_loans open_active -.* -review count_quoted /,
      );
    });
  });
});

describe.skipIf(!hasCommand('python3'))('the table of computed fields (skipped without python3)', () => {
  const run = (...args: string[]) =>
    execFileSync('python3', ['-B', `${folder}field_sources.py`, ...args, `18=${folder}fixture`], {
      encoding: 'utf8',
    }).split('\n');

  test('has what stored fields show, and what `fields_get` does not declare of others', () => {
    const shelf = run().find((line) => line.startsWith('library.shelf '));
    expect(shelf?.split(' ').slice(1)).toEqual([
      // A number that a user may change.
      'chosen',
      'cover=secret',
      // Written by the inverse of `cover`.
      'cover_hash==cover',
      // A condition is not shown.
      'kept=code',
      'kept_all=*',
      'kept_none',
      'label=code',
      // A date as text.
      'opening_day=opened',
      // Without the sum over many records.
      'total=price',
    ]);
  });

  test('has fields of related records', () => {
    expect(run()).toContain('library.volume shelf_code=library.shelf:code');
  });

  test('has names of records, what queries return, and the value of a related field of another model', () => {
    expect(run()).toContain(
      'library.rack display_name=library.volume:price notes=library.shelf:code secret=library.shelf:secret,library.volume:shelf_secret worth=library.volume:price',
    );
  });

  test('has the fields of a view of the database', () => {
    expect(run()).toContain(
      'library.overview extra=library.shelf:price label=library.shelf:code price=library.volume:price unknown=library.shelf:secret worth=library.volume:price',
    );
  });

  test('has the context keys of display names', () => {
    expect(run('--keys').filter((line) => line !== '')).toEqual([
      'show_price library.shelf code,price',
      'show_shelf library.volume library.shelf:secret,shelf_id',
    ]);
  });
});

test.skipIf(!hasCommand('python3')).each([
  [[], 'VERSION=PATH'],
  [
    ['fixture'],
    "'fixture' is not of the form VERSION=PATH: give a version and a folder, as in 18=../odoo-18",
  ],
  [['18='], "'18=' is not of the form VERSION=PATH"],
  [['18=nowhere'], "'nowhere' is no checkout of Odoo: give the folder that contains odoo/addons/base"],
  [[`18=${folder}fixture`, `18=${folder}fixture`], 'version 18 is given twice: give each version once'],
])('scripts say what to give in place of the checkouts %j (skipped without python3)', (given, message) => {
  for (const script of ['field_sources.py', 'name_search_fields.py', 'written_models.py']) {
    const { status, stderr } = spawnSync('python3', ['-B', `${folder}${script}`, ...given], {
      encoding: 'utf8',
    });
    expect(status, script).toBe(2);
    expect(stderr, script).toContain(message);
  }
});

test.skipIf(!hasCommand('python3'))(
  'the table of searches by name has what they compare in other models (skipped without python3)',
  () => {
    const args = ['-B', `${folder}name_search_fields.py`, `18=${folder}fixture`];
    const lines = execFileSync('python3', args, { encoding: 'utf8' }).split('\n');
    expect(lines.filter((line) => /^(library\.|any\/)/.test(line))).toEqual([
      'any/label library.shelf',
      'library.pile library.shelf:label',
      'library.pile/code library.shelf:code',
      'library.queue library.reservation',
      'library.reservation library.shelf,library.shelf:label',
      'library.sorted.volume/note library.shelf:label',
      'library.sorted.volume/price library.shelf:price',
      'library.sorted.volume/queue_id library.shelf',
    ]);
  },
);

describe.skipIf(!hasCommand('python3'))(
  'the table of fields that change other models (skipped without python3)',
  () => {
    interface Row {
      models: string[];
      methods: string[];
      [member: string]: unknown;
    }
    const ALL = ['create', 'write', 'unlink'];
    const TARGETS: Row = {
      models: [
        'library.contact',
        'library.home',
        'library.branch',
        'library.card',
        'library.log',
        'res.groups',
      ],
      methods: ALL,
    };
    const SENT: Row = { models: ['mail.mail', 'mail.followers'], methods: ALL };

    /** The rows of each model, and the three lists that follow. */
    function list(
      needed: readonly Row[],
      review: object = {},
    ): Record<'rows' | 'leftOut' | 'heirs' | 'values', string[]> {
      const file = join(makeFolder(), 'review.json');
      const targets = { needed, called: [], deleted: [], sources: [], links: [], harmless: [], ...review };
      writeFileSync(file, JSON.stringify({ targets }));
      const args = ['-B', `${folder}written_models.py`, '--review', file, `18=${folder}fixture`];
      const printed = execFileSync('python3', args, { encoding: 'utf8' });
      const [rows = [], leftOut = [], heirs = [], values = []] = [...printed.matchAll(/`\n([^`]*)\n?`/g)].map(
        ([, text = '']) => text.split('\n').filter((line) => line !== ''),
      );
      return { rows, leftOut, heirs, values };
    }

    const ofModel = (rows: readonly string[], model: string) =>
      rows
        .find((line) => line.startsWith(`${model} `))
        ?.split(' ')
        .slice(1)
        .sort();

    test('has related fields, inverses, and what `create` and `write` do about a field', () => {
      const { rows } = list([TARGETS, SENT]);
      expect(ofModel(rows, 'library.member')).toEqual([
        // The link has a default, so that a new record can have it without naming it.
        'branch_name=library.branch/write',
        'email=library.contact/write?contact_id',
        // A condition on another field, or on what the record has, does not count.
        'friend_id=mail.followers/write!',
        // `helper_id` sets `librarian_id`.
        'helper_id,librarian_id=res.groups/write',
        'kind,valid_until=library.card/write!?card_id',
        'note=library.log/create',
        // A scheduled action finds its records by this field.
        'remind_on,stage=mail.mail/create',
        'state=mail.mail/create!',
        // The link is computed from fields of which one has a default.
        'street=library.home/write',
      ]);
      expect(ofModel(rows, 'library.reader')).toEqual([
        // The record has the fields of the contact as its own.
        'contact_id=library.contact/write',
        'street=library.contact/write?contact_id',
      ]);
    });

    test('has stored fields that only Odoo computes, with the records from which they come over any number of steps', () => {
      const computed = [{ models: ['library.card'], methods: ['write'], fields: ['printed'] }];
      expect(ofModel(list([], { computed }).rows, 'library.member')).toEqual([
        'is_printed,is_ready=library.card/write',
      ]);
      expect(ofModel(list([TARGETS]).rows, 'library.member')).not.toContain(
        'is_printed,is_ready=library.card/write',
      );
    });

    test('has users of whom Odoo makes followers, if changes of the field are tracked or the model says so', () => {
      const { rows } = list([SENT]);
      expect(ofModel(rows, 'library.task')).toEqual(['owner_ids,user_id=mail.followers/write']);
      expect(ofModel(rows, 'library.quiet.task')).toBeUndefined();
      expect(ofModel(rows, 'library.related.task')).toEqual(['user_id=mail.followers/write']);
    });

    test('has texts that are evaluated, as those of a domain', () => {
      const filters: Row = { models: ['ir.filters'], methods: ['create'] };
      // Also if a method passes the text on, or the model of the records is known by the name of the field alone.
      expect(ofModel(list([filters]).rows, 'library.label')).toEqual([
        'condition,far_condition,passed_on=ir.filters/create',
      ]);
    });

    test('passes on what the field of another model does', () => {
      expect(ofModel(list([TARGETS]).rows, 'library.team')).toEqual(['leader_id=res.groups/write!']);
    });

    test('follows the review', () => {
      const groups: Row = { models: ['res.groups'], methods: ['write'] };
      // What a record has as its own fields needs an entry without a row of the review.
      const find = (needed: Row, review = {}) =>
        list([needed], review)
          .rows.filter((row) => row !== 'library.reader contact_id=library.contact/write')
          .join(' ');
      expect(find({ ...groups, fields: ['users'] })).toContain('librarian_id=res.groups/write');
      expect(find({ ...groups, fields: ['name'] })).toBe('');
      expect(find({ ...groups, except: ['users'] })).toBe('');
      expect(find({ ...groups, direct: true })).toBe('');
      expect(find({ ...groups, as: 'res.users/write' })).toContain('librarian_id=res.users/write');
      const sources = [
        { models: ['library.[gt]*'] },
        { models: ['*'], fields: ['helper_id'], targets: ['res.groups/write'] },
      ];
      expect(find(groups, { sources })).toBe('library.member librarian_id=res.groups/write');
      const links = [{ model: 'library.member', link: 'contact_id', by: ['name'] }];
      expect(find({ ...TARGETS, fields: ['email'] }, { links })).toContain(
        'library.member email=library.contact/write?contact_id,name',
      );
    });

    test('has methods, by what they change themselves', () => {
      const called = { called: [TARGETS] };
      expect(ofModel(list([], called).rows, 'library.stamp')).toEqual([
        'log()=library.log/create',
        'print_card()=library.card/write',
      ]);
      expect(list([TARGETS]).rows.join()).not.toContain('()');
      const sources = [{ models: ['*'], fields: ['log()'] }];
      expect(ofModel(list([], { ...called, sources }).rows, 'library.stamp')).toEqual([
        'print_card()=library.card/write',
      ]);
    });

    test('has links to records that are deleted or changed with the record', () => {
      const deleted = (review: object) => ofModel(list([], review).rows, 'library.loan');
      const any: Row = { models: ['*'], methods: ['unlink'] };
      expect(deleted({ deleted: [any] })).toEqual([
        // A call cannot set a computed or related link, but the fields that it comes from.
        'desk_id=library.log/unlink~',
        // Deleted by a method that Odoo calls before.
        'home_ids=library.home/unlink~',
        'label_id=library.label/unlink~',
        'label_id=library.team/unlink~',
      ]);
      expect(deleted({ deleted: [{ ...any, models: ['library.c*'], methods: ALL }] })).toEqual([
        'contact_id=library.contact/write~',
      ]);
      const sources = [{ models: ['library.*'], fields: ['label_id', 'desk_id'] }];
      expect(deleted({ deleted: [any], sources })).toEqual(['home_ids=library.home/unlink~']);
    });

    test('lists fields with JSON that a call can set, except those that were reviewed', () => {
      expect(list([]).values).toEqual(['library.guest options', 'library.member options']);
      const json = [{ fields: ['library.guest options', 'library.member options'] }];
      expect(list([], { json }).values).toEqual([]);
    });

    test('lists the targets that are left out, and models that have what another one has', () => {
      const { leftOut, heirs } = list([SENT]);
      expect(leftOut).toEqual(expect.arrayContaining(['library.log/create', 'res.groups/write']));
      expect(leftOut).not.toContain('mail.mail/create');
      expect(
        list([SENT], { harmless: [{ models: ['library.log'], methods: ['create'] }] }).leftOut,
      ).not.toContain('library.log/create');
      expect(heirs).toEqual([
        'library.guest inherits library.member',
        'library.reader delegates library.contact',
      ]);
    });
  },
);

describe.skipIf(!hasCommand('python3'))(
  'the table of methods that write values of their caller (skipped where python3 is not installed)',
  () => {
    function list(...review: object[]): string[] {
      const file = join(makeFolder(), 'review.json');
      writeFileSync(file, JSON.stringify({ written_methods: review }));
      const args = ['-B', `${folder}written_methods.py`, '--review', file, `18=${folder}fixture`];
      const printed = execFileSync('python3', args, { encoding: 'utf8' });
      const line = printed.split('\n').find((each) => each.startsWith('library.stamp '));
      return line?.split(' ').slice(1) ?? [];
    }

    test('has what a value of a parameter becomes, also in methods that are called', () => {
      expect(list()).toEqual([
        'add=create',
        'confirm?=write',
        'log=library.log/create',
        'rename=write',
        'set_color=write',
        'update_details=write',
      ]);
    });

    test('follows the review', () => {
      const review = [{ models: ['library.log'] }, { methods: ['add', 'set_*'] }];
      expect(list(...review)).toEqual(['confirm?=write', 'rename=write', 'update_details=write']);
    });
  },
);

test.skipIf(!hasCommand('python3'))(
  'has fields by which a record names another one (skipped where python3 is not installed)',
  () => {
    const [char, integer] = [{ type: 'Char' }, { type: 'Integer' }];
    const fields = {
      res_id: integer,
      res_model: char,
      origin_id: { type: 'Many2oneReference' },
      order_ids: { type: 'Text' },
      order_model_id: { type: 'Many2one', comodel: 'ir.model' },
      // No name of a model beside it, a link of one model, and no id.
      google_id: char,
      partner_id: { type: 'Many2one', comodel: 'res.partner' },
      partner_model: char,
    };
    const tables = makeFolder();
    const files = ['17', '18'].map((version) => {
      const file = join(tables, `${version}.json`);
      writeFileSync(file, JSON.stringify({ version, models: { 'library.log': { fields }, other: {} } }));
      return file;
    });
    const printed = execFileSync('python3', ['-B', `${folder}named_records.py`, ...files], {
      encoding: 'utf8',
    });
    expect(JSON.parse(printed)).toEqual(
      ['order_ids', 'origin_id', 'res_id'].map((field) => ({
        model: 'library.log',
        field,
        versions: '17 18',
      })),
    );
  },
);

test.skipIf(!hasCommand('python3'))(
  'has members of a context without which Odoo does not change records or run a method (skipped without python3)',
  () => {
    const root = makeFolder();
    const base = join(root, 'odoo', 'addons', 'base');
    mkdirSync(base, { recursive: true });
    writeFileSync(join(base, '__manifest__.py'), '{"license": "LGPL-3"}');
    writeFileSync(
      join(base, 'models.py'),
      `
class Book(models.Model):
    _name = "book"

    name = fields.Char()
    card_id = fields.Many2one("card")
    link = fields.Char(compute="_compute_link")
    kept = fields.Char(compute="_compute_kept", store=True)

    def _compute_link(self):
        for book in self:
            book.link = book._make_link()

    def _make_link(self):
        if self.env.context.get("with_link"):
            self.env["card"].create({"name": "link"})

    def _compute_kept(self):
        self.lend_kept()

    def lend_kept(self):
        if self.env.context.get("lend_kept"):
            self.lend()

    def create(self, values):
        book = super().create(values)
        if self.env.context.get("lend_now"):
            book.lend()
        if self.env.context.get("fresh"):
            book.write({"name": "fresh"})
        if not self.env.context.get("no_card") and values.get("name"):
            self.env["card"].create({"name": "new"})
        return book

    def lend(self):
        self.card_id.write({"name": "lent"})

    def lend_all(self):
        if self.env.context.get("by_private"):
            self._lend_each()
        if self.env.context.get("unless_false", True) or self.env.context.get("unless_given") is None:
            self._lend_each()
        self._lend_each(self.env.context.get("as_argument"))

    def lend_held(self):
        lend = getattr(self.card_id, "write")
        if self.env.context.get("by_held"):
            lend({"name": "lent"})

    def _lend_each(self, how=None):
        self._lend_one()

    def _lend_one(self):
        self.card_id.write({"name": "lent"})
        self._lend_deeper()

    def _lend_deeper(self):
        self.env["card"].search([]).unlink()

    def show(self):
        return self.name

    def message_post(self, **kwargs):
        if self.env.context.get("mark_read"):
            self.name = "read"
        if self.env.context.get("just_show"):
            self.show()

    def unlink(self):
        cards = self.card_id if self.env.context.get("with_cards") else False
        if not self.env.context.get("with_log"):
            return super().unlink()
        self.env["card"].search([]).unlink()

    def _compute_name(self):
        if self.env.context.get("renamed"):
            self.card_id.name = "a"


class Card(models.Model):
    _name = "card"

    name = fields.Char()
`,
    );
    const list = (...review: object[]) => {
      const file = join(root, 'review.json');
      writeFileSync(file, JSON.stringify({ context_effects: review }));
      const args = ['-B', `${folder}context_effects.py`, '--review', file, `18=${root}`];
      const printed = execFileSync('python3', args, { encoding: 'utf8' });
      const [, all, , ofReads] = printed.split('`').map((text) => text.trim().split('\n'));
      return { all, ofReads };
    };
    expect(list()).toEqual({
      all: [
        'by_held card/write',
        'by_private card/write',
        'lend_kept book/lend',
        'lend_now book/lend',
        'mark_read book/write',
        'with_link card/create',
        'with_log card/unlink',
      ],
      // Odoo does not compute a stored field when it is read.
      ofReads: ['with_link'],
    });
    const left = [
      { members: ['by_*'] },
      { members: ['lend_*'], targets: ['book/*'] },
      { members: ['with_l*'] },
    ];
    expect(list(...left)).toEqual({ all: ['mark_read book/write'], ofReads: [''] });
  },
);

test.skipIf(!hasCommand('python3'))(
  'has members of a context that select records of other models (skipped where python3 is not installed)',
  () => {
    const root = makeFolder();
    const base = join(root, 'odoo', 'addons', 'base');
    mkdirSync(base, { recursive: true });
    writeFileSync(join(base, '__manifest__.py'), '{"license": "LGPL-3"}');
    writeFileSync(
      join(base, 'models.py'),
      `
class Book(models.Model):
    _name = "book"

    def lend(self):
        self.env["card"].browse(self.env.context["card_id"]).write({"book_id": self.id})
        self.env["shelf"].search([("card_ids.home_id", "in", self.env.context.get("home_ids"))]).unlink()
        # Read only, and a value of another record.
        self.env["guest"].browse(self.env.context.get("guest_id")).name_get()
        if home := self.env["home"].browse(self.env.context.get("sent_to")):
            home.name = self.name

    def count(self):
        return len(self.env["card"].browse(self.env.context["active_ids"]))


class Shelf(models.Model):
    _name = "shelf"

    card_ids = fields.One2many("card", "shelf_id")


class Card(models.Model):
    _name = "card"

    home_id = fields.Many2one("home")


class Home(models.Model):
    _name = "home"

    name = fields.Char()


class Form(models.TransientModel):
    _name = "form"

    book_ids = fields.Many2many("book", default=lambda self: self.env.context.get("active_ids"))
    card_id = fields.Many2one("card")

    def default_get(self, names):
        values = super().default_get(names)
        books = self.env["book"].browse(self.env.context.get("active_ids"))
        values["card_id"] = books.card_id.id
        return values


class Other(models.TransientModel):
    _name = "other"

    def run(self):
        self.env[self.env.context["active_model"]].browse(self.env.context["active_id"]).unlink()
`,
    );
    const review = join(root, 'review.json');
    const list = (...rows: object[]) => {
      writeFileSync(review, JSON.stringify({ context_records: rows }));
      const args = ['-B', `${folder}context_records.py`, '--review', review, `18=${root}`];
      const [, lines = ''] = execFileSync('python3', args, { encoding: 'utf8' }).split('`');
      return lines.trim().split('\n');
    };
    expect(list()).toEqual(['card_id card', 'form: book', 'home_ids home', 'other: *', 'sent_to home']);
    const rows = [
      { names: ['card_id', 'other:'], models: [] },
      { names: ['form:', 'a_id'], models: ['book', 'card'] },
    ];
    expect(list(...rows)).toEqual(['a_id book card', 'form: book card', 'home_ids home', 'sent_to home']);
  },
);
