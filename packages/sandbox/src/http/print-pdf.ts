/** Prints lines of text as a PDF with one page (ISO 32000-1). Pure. */

const LEADING = 18;

/** Characters beyond Latin-1 become question marks. */
export function printPdf(lines: readonly string[]): string {
  const text = lines.map((line) => `(${escapeText(line)}) Tj T*`).join('\n');
  const content = `BT /F1 12 Tf ${LEADING} TL 72 760 Td\n${text}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = pdf.length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return `${pdf}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
}

/** Other bytes of Latin-1 are written in octal, so that the text is ASCII. */
function escapeText(text: string): string {
  return text.replaceAll(/[()\\]/g, '\\$&').replaceAll(/[^ -~]/gu, (character) => {
    const code = character.codePointAt(0)!;
    return code > 0xff || code < 0xa0 ? '?' : `\\${code.toString(8)}`;
  });
}
