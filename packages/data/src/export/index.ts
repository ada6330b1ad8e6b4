/** Exports of a model. */
export { createExporter, type Exporter } from './export.ts';
