"""What accounting runs on the last day of a month."""

import pandas as pd


def close_month(orders: pd.DataFrame, returns: pd.DataFrame) -> pd.Series:
    """Revenue of each region, less the refunds that were booked in the month."""
    sold = orders.groupby("region")["revenue"].sum()
    back = returns.groupby("region")["refund"].sum()
    return sold.sub(back, fill_value=0)
