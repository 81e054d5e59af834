/* A process that does nothing, linked statically: the least that starting and ending can cost, and
 * so the most that the lab itself adds to a figure. */
int main(void)
{
    return 0;
}
