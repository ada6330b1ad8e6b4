/**
 * Finds the number of attempts and the due time of a new delivery, which replaces waiting deliveries of its record.
 * Pure.
 */

export interface WaitingDelivery {
  readonly attempts: number;
  readonly nextAt: number;
  /** Null: the delivery is not being sent. */
  readonly claim: string | null;
}

/** `waiting`: the waiting deliveries of the record, in the order of their changes. */
export function chooseDeliveryPlace(waiting: readonly WaitingDelivery[], now: number) {
  let place = { attempts: 0, nextAt: now };
  for (const { attempts, nextAt, claim } of waiting) {
    // A delivery that is being sent stays, and the new one waits for its end.
    if (claim !== null) place = { attempts: 0, nextAt };
    // A delivery that was never tried is due later than now only if the clock was set back.
    else place = { attempts, nextAt: attempts === 0 ? Math.min(nextAt, place.nextAt) : nextAt };
  }
  return place;
}
