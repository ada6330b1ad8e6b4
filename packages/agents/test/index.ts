/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { makePdf } from '../src/documents/pdf.fixture.ts';
