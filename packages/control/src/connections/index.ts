/** Connections of persons to Odoo. */
export {
  type Connection,
  type ConnectionRecord,
  type Connections,
  createConnections,
  type DescribeConnectionReseal,
  type NewConnection,
} from './connections.ts';
