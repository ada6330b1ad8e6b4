/** Runs the checks of an Odoo server, and returns each as soon as it is found. */
import type { Examination, ExaminationCheck } from '@erp-proxy/contract';
import { useEffect, useRef, useState } from 'react';
import { readLines } from '../api/read-lines.ts';
import { type AdminRequest, sendRaw } from '../api/send.ts';

export interface ExaminationRun {
  isRunning: boolean;
  checks: ExaminationCheck[];
  /** Null until all checks have ended. */
  examination: Examination | null;
  error: Error | null;
}

const IDLE: ExaminationRun = { isRunning: false, checks: [], examination: null, error: null };

type Line = { check: ExaminationCheck } | { examination: Examination };

/** `run` resolves to null if the checks could not be run, or were cancelled. */
export function useExamination() {
  const [state, setState] = useState(IDLE);
  const controller = useRef<AbortController>(null);
  useEffect(() => () => controller.current?.abort(), []);

  async function run(request: AdminRequest): Promise<Examination | null> {
    controller.current?.abort();
    controller.current = new AbortController();
    const { signal } = controller.current;
    setState({ ...IDLE, isRunning: true });
    let examination: Examination | null = null;
    try {
      const response = await sendRaw(request, signal, { accept: 'application/x-ndjson' });
      if (response.body === null) throw new Error('The answer is empty.');
      await readLines(response.body, (value) => {
        const line = value as Line;
        if ('check' in line) setState((old) => ({ ...old, checks: [...old.checks, line.check] }));
        else examination = line.examination;
      });
      if (examination === null) throw new Error('The checks broke off. Try again.');
    } catch (error) {
      if (!signal.aborted) setState((old) => ({ ...old, isRunning: false, error: error as Error }));
      return null;
    }
    if (signal.aborted) return null;
    setState((old) => ({ ...old, isRunning: false, examination }));
    return examination;
  }

  const reset = () => {
    controller.current?.abort();
    setState(IDLE);
  };
  return { ...state, run, reset };
}
