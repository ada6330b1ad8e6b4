import { beforeEach, describe, expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';

let company: ReturnType<typeof openEnvironment>;
beforeEach(() => {
  company = openEnvironment();
});

const write = (id: number, values: object) => company.call('res.partner', 'write', [[id], values]);
const tags = (id: number) => company.readOne('res.partner', id, ['category_id'])['category_id'];
const children = (id: number) => company.readOne('res.partner', id, ['child_ids'])['child_ids'] as number[];

describe('commands of a many2many', () => {
  test('0 creates and links', () => {
    write(3, { category_id: [[0, 0, { name: 'New' }]] });
    expect(tags(3)).toEqual([4]);
  });

  test('4 links, 3 unlinks, 5 clears, 6 replaces', () => {
    write(3, {
      category_id: [
        [4, 1],
        [4, 2, 0],
      ],
    });
    expect(tags(3)).toEqual([1, 2]);
    write(3, { category_id: [[3, 1]] });
    expect(tags(3)).toEqual([2]);
    write(3, { category_id: [[6, 0, [1, 3]]] });
    // The tags come in the order of their model, by name.
    expect(tags(3)).toEqual([3, 1]);
    write(3, { category_id: [[5]] });
    expect(tags(3)).toEqual([]);
  });

  test('2 deletes the linked record', () => {
    write(3, {
      category_id: [
        [4, 1],
        [2, 1],
      ],
    });
    expect(tags(3)).toEqual([]);
    expect(company.search('res.partner.category', [['id', '=', 1]])).toEqual([]);
  });
});

describe('commands of a one2many', () => {
  test('0, 1, 3 and 4 create, change, unlink and link', () => {
    const before = children(14);
    write(14, { child_ids: [[0, 0, { name: 'Kid' }]] });
    const [kid] = children(14).filter((id) => !before.includes(id));
    write(14, { child_ids: [[1, kid, { name: 'Kid 2' }]] });
    expect(company.readOne('res.partner', kid!, ['name', 'parent_id'])).toMatchObject({
      name: 'Kid 2',
      parent_id: [14, 'Lumber Inc'],
    });
    write(14, { child_ids: [[3, kid]] });
    expect(children(14)).toEqual(before);
    write(14, { child_ids: [[4, kid]] });
    expect(children(14)).toEqual([kid, ...before]);
  });

  test('3 deletes a line that requires an order', () => {
    company.call('sale.order', 'write', [[1], { order_line: [[3, 1]] }]);
    expect(company.readOne('sale.order', 1, ['order_line'])['order_line']).toEqual([2, 3]);
    expect(company.search('sale.order.line', [['id', '=', 1]])).toEqual([]);
  });

  test('an unknown command is passed over', () => {
    const before = children(14);
    write(14, { child_ids: [[9, 0, 0]] });
    expect(children(14)).toEqual(before);
  });
});
