/** Finds layout faults of a page. */
import type { Page } from 'playwright-core';

/**
 * Returns one line for each fault: a document that scrolls sideways, a text that is cut, a control outside of the page.
 */
export async function listLayoutFaults(page: Page): Promise<string[]> {
  return (await page.evaluate(`(${inspect.toString()})()`)) as string[];
}

/** Runs in the browser. */
function inspect(): string[] {
  // biome-ignore lint/suspicious/noExplicitAny: the types of the browser are not those of this program
  const { document, innerWidth, getComputedStyle } = globalThis as any;
  const TEXT_GAP_MIN = 3;
  const faults: string[] = [];
  const excess = document.documentElement.scrollWidth - innerWidth;
  if (excess > 0) faults.push(`the document is ${excess} px wider than the window`);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  for (const element of document.querySelectorAll('#root *') as any[]) {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (box.width <= 1 || box.height <= 1 || style.visibility === 'hidden') continue;
    if (element.closest('.skip-link, [aria-hidden="true"], [inert], svg, .cm-editor')) continue;
    const isControl = element.matches('a, button, input, select, textarea, [role=tab], [role=switch]');
    if (isControl && !isWithinScroller(element) && (box.right > innerWidth + 1 || box.left < -1))
      faults.push(`outside of the window: ${describe(element)}`);
    if (isCut(element, style) && !element.closest('[title]'))
      faults.push(`cut without a title: ${describe(element)}`);
  }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  for (const editor of document.querySelectorAll('.cm-editor') as any[]) {
    const above = editor
      .closest('.mantine-InputWrapper-root')
      ?.querySelector('.mantine-InputWrapper-description');
    const { top, height } = editor.getBoundingClientRect();
    if (!above || height === 0) continue;
    const gap = top - above.getBoundingClientRect().bottom;
    if (gap < TEXT_GAP_MIN) faults.push(`${gap} px between an editor and its text: ${describe(above)}`);
  }
  return [...new Set(faults)];

  // biome-ignore lint/suspicious/noExplicitAny: as above
  function isCut(element: any, style: any): boolean {
    if (element.matches('input, textarea, select, [class*="ScrollArea"], [class*="Progress"]')) return false;
    const hidesX = style.overflowX === 'hidden' || style.overflowX === 'clip';
    const hidesY = style.overflowY === 'hidden' || style.overflowY === 'clip';
    const isTooWide = hidesX && element.scrollWidth > element.clientWidth + 1;
    const isTooHigh = hidesY && element.scrollHeight > element.clientHeight + 2;
    return (isTooWide || isTooHigh) && element.innerText?.trim() !== '';
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  function isWithinScroller(element: any): boolean {
    for (let at = element.parentElement; at !== null; at = at.parentElement) {
      const { overflowX } = getComputedStyle(at);
      if (/auto|scroll/.test(overflowX) && at.scrollWidth > at.clientWidth) return true;
    }
    return false;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  function describe(element: any): string {
    const text = (element.innerText ?? '').trim().slice(0, 60);
    return `${element.tagName.toLowerCase()}.${String(element.className).slice(0, 80)} ${JSON.stringify(text)}`;
  }
}
